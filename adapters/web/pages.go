package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	template "github.com/DataDog/datadog-agent/pkg/template/html"
	"golang.org/x/text/language"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// The pages of games and rulesets need no JavaScript, and set no cookie but the one in which
// readers choose how they see them. Anyone who knows
// the address of a game may read its pages, if its room permits pages; the service decides
// that anew for every request, so nothing here remembers what may be read. What a page says is
// remembered for a second, for all who ask for it at once.

// Limits of previews, in bytes. Chats cut what is longer.
const (
	previewTitle = 70
	previewText  = 350
)

// templates make the pages. Their package is html/template without calls of methods: a call by
// name keeps every exported method in the program, because the linker cannot tell which ones
// are called, and these are megabytes.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"t": bot.Translated, "sum": sumOf, "direction": direction, "letters": render.TextBoard,
}).ParseFS(page, "page/*.html"))

// A head is what every page needs that a template makes.
type head struct {
	Lang    string // of its words
	Title   string
	Public  bool     // search engines may list it
	Preview *preview // nil: it has none
}

// direction returns the direction in which a language is written.
func direction(lang string) string {
	if script, _ := language.Make(lang).Script(); slices.Contains([]string{"Arab", "Hebr", "Syrc", "Thaa", "Nkoo", "Adlm"}, script.String()) {
		return "rtl"
	}
	return "ltr"
}

// A preview is what a chat shows of a page when somebody posts its address. Others may
// keep it for good, so it names no players unless the room is public.
type preview struct {
	Title, Text, URL string
	Image            *image // nil: none
}

// An image is the picture of a preview; its size is in pixels.
type image struct {
	URL, Alt      string
	Width, Height int
}

// readerLanguage returns the language of somebody who reads a page: that of their browser,
// or English if the bot does not speak it; empty if the browser names none.
func readerLanguage(r *http.Request) string {
	if lang := browserLanguage(r); lang != "" {
		return pageLanguage(lang)
	}
	return ""
}

// write sends a page that a template makes of data.
func (s *server) write(w http.ResponseWriter, status int, name string, public bool, data any) {
	s.send(w, status, s.page(name, data), public, pagePolicy)
}

// page returns a page that a template makes of data; nil: it cannot.
func (s *server) page(name string, data any) []byte {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		s.log.Error("making a page failed", "page", name, "error", err)
		return nil
	}
	return out.Bytes()
}

// pagePolicy is the Content-Security-Policy of pages that templates make, which have forms.
var pagePolicy = strings.Replace(policy, "form-action 'none'", "form-action 'self'", 1)

func (s *server) send(w http.ResponseWriter, status int, page []byte, public bool, policy string) {
	if page == nil {
		http.Error(w, "This page cannot be shown.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	if !public {
		h.Set("X-Robots-Tag", "noindex")
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin") // without any referrer, browsers send forms with "Origin: null"
	w.WriteHeader(status)
	_, _ = w.Write(page) // who does not read it has gone
}

// address returns the absolute address of a path of the room.
func (s *server) address(r *http.Request, path string) string {
	base := strings.TrimSuffix(s.cfg.PublicURL, "/")
	if base == "" { // known has found that the host is the room's
		base = "http://" + r.Host
		if secure(r) {
			base = "https://" + r.Host
		}
	}
	return base + path
}

// A link is a place to go, and its words.
type link struct{ URL, Text string }

// missing says that there is no page at an address. It says the same of one that never
// was, one that was switched off and one of a deleted game.
func (s *server) missing(w http.ResponseWriter, r *http.Request) {
	s.say404(w, r, bot.Translated(pageLanguage(browserLanguage(r)), wordNoPage), nil)
}

// say404 answers that there is no such page, and which ones may be meant.
func (s *server) say404(w http.ResponseWriter, r *http.Request, says string, meant []link) {
	lang := pageLanguage(browserLanguage(r))
	s.write(w, http.StatusNotFound, "missing.html", false, struct {
		head
		Says  string
		Meant []link
	}{head{Lang: lang, Title: bot.Translated(lang, wordNotFound)}, says, meant})
}

// view asks the service for the moment of a game that a request names, in the words of a
// language. Its error is bot.ErrNotFound if there is none that may be read.
func (s *server) view(r *http.Request, lang string, who outbox.User) (bot.View, error) {
	first := 1
	if isRecord(r) {
		first = 0
	}
	v := bot.Viewing{Slug: r.PathValue("slug"), As: strings.TrimSpace(r.URL.Query().Get("as")), Lang: lang, By: who, Held: r.PathValue("part") == "held"}
	if raw := r.PathValue("seq"); raw != "" {
		var err error
		if v.Seq, err = strconv.Atoi(raw); err != nil || v.Seq < first || v.Seq > maxSeq || strconv.Itoa(v.Seq) != raw {
			return bot.View{}, bot.ErrNotFound
		}
		v.Seq += 1 - first
	}
	if isRecord(r) {
		return s.viewRecord(r, v)
	}
	return s.service.View(r.Context(), v)
}

// maxSeq is more than the number of any event.
const maxSeq = 1 << 30

// inTurn runs f when few others do such work for pages: visitors must not hold up those who
// play. To send what f has made is not part of the work, because it takes as long as the
// client likes.
func (s *server) inTurn(ctx context.Context, f func() error) error {
	select {
	case s.visits <- struct{}{}:
		defer func() { <-s.visits }()
		return f()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gamePage shows a game as it is now, or as it was after an event.
func (s *server) gamePage(w http.ResponseWriter, r *http.Request) {
	var page made
	err := s.inTurn(r.Context(), func() (err error) {
		page, err = s.makeGamePage(r)
		return err
	})
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.send(w, page.status, page.page, page.public, pagePolicy)
}

// A made page is one that a template has made.
type made struct {
	status int
	page   []byte
	public bool // search engines may list it
}

// shared names a page that is the same for all who only watch. After each turn all who
// follow a game ask for its page at once, so it is made once for them.
type shared struct {
	address string // with its query
	base    string // of the room, in the links of the page
	lang    string
	look    string        // what the browser has chosen
	free    []outbox.User // seats that the reader can take
	newest  int           // event of the game
	public  bool
	second  int64 // of Unix time: clocks go on, and a name or a setting may have changed
}

// makeGamePage makes the page that a request asks for, if the game may be read now.
func (s *server) makeGamePage(r *http.Request) (made, error) {
	linked, err := s.linked(r)
	if err != nil {
		return made{}, err
	}
	now, who, free, err := s.player(r, linked)
	if err != nil {
		return made{}, err
	}
	if who.ID != "" || linked.ID != "" || isRecord(r) {
		return s.gamePageFor(r, who, linked, free)
	}
	key := shared{r.URL.RequestURI(), s.address(r, ""), readerLanguage(r), fmt.Sprint(lookOf(r)), free, now.Match.Seq, now.Public, s.cfg.Now().Unix()}
	return s.pages.get(fmt.Sprintf("%#v", key), func() (made, error) {
		return s.gamePageFor(r.WithContext(context.WithoutCancel(r.Context())), who, linked, free) // it is for others, too
	})
}

// gamePageFor makes the page of a game for somebody who plays in it or not, is somebody by a
// link or not, and can take some seats.
func (s *server) gamePageFor(r *http.Request, who, linked outbox.User, free []outbox.User) (made, error) {
	v, err := s.view(r, readerLanguage(r), cmp.Or(who, linked))
	if err != nil {
		return made{}, err
	}
	page := made{http.StatusOK, nil, v.Public}
	view := s.gameView(r, v)
	if isRecord(r) {
		if view.Record, err = s.recordView(r, v); err != nil {
			return made{}, err
		}
		if view.Record.Shared == "" {
			view.Embed = "" // which would show nothing
		}
	}
	if linked.ID != "" {
		view.Who = bot.CleanName(linked.Name)
	}
	if !view.Compared && !view.Moment { // else there are two boards, or it is over
		view.Play = s.play(r, v, who)
		view.Sit = sitting(view.View, view.Game, free, view.Play)
	}
	if v.As != nil && v.As.Rules == "" {
		page.status = http.StatusBadRequest
	}
	page.page = s.page("game.html", view)
	return page, nil
}

// turn leads to the position after a turn that stands now, by its number. What has that
// number may change, so the address of the position is what lasts.
func (s *server) turn(w http.ResponseWriter, r *http.Request) {
	var v bot.View
	err := s.inTurn(r.Context(), func() (err error) {
		v, err = s.view(r, "", outbox.User{})
		return err
	})
	at := slices.IndexFunc(v.Turns, func(t bot.ViewTurn) bool { return strconv.Itoa(t.Number) == r.PathValue("number") })
	if err == nil && at < 0 {
		err = bot.ErrNotFound
	}
	if err != nil {
		s.failed(w, r, err)
		return
	}
	w.Header().Set("X-Robots-Tag", "noindex")
	http.Redirect(w, r, gamePath(r)+"/"+strconv.Itoa(v.Turns[at].Seq), http.StatusSeeOther)
}

// gamePath returns the path of the game or the record whose page a request names.
func gamePath(r *http.Request) string {
	kind := "/g/"
	if isRecord(r) {
		kind = "/p/"
	}
	return kind + url.PathEscape(r.PathValue("slug"))
}

// momentPath returns the path of the moment after an event of the game that a request names.
// Records have no events but their turns.
func momentPath(r *http.Request, seq int) string {
	if isRecord(r) {
		seq--
	}
	return gamePath(r) + "/" + strconv.Itoa(seq)
}

// failed answers a request for which the service had no answer.
func (s *server) failed(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, bot.ErrNotFound) {
		s.missing(w, r)
		return
	}
	says, status := wordNotNow, http.StatusServiceUnavailable
	switch {
	case errors.Is(err, bot.ErrDamaged): // which the bot has logged
		says, status = wordDamaged, http.StatusInternalServerError
	case r.Context().Err() == nil:
		s.log.Error("making a page failed", "path", r.URL.Path, "error", err)
	}
	w.Header().Set("X-Robots-Tag", "noindex")
	http.Error(w, bot.Translated(browserLanguage(r), says), status)
}

// partOfMoment sends what belongs to the page of a moment: its pictures, and the board to embed.
// It is one pattern, because one of the embed's own would be ambiguous beside that of turn.
func (s *server) partOfMoment(w http.ResponseWriter, r *http.Request) {
	switch r.PathValue("part") {
	case "board.png", "card.png":
		s.reading(drawReads, s.gamePicture)(w, r)
	case "board.svg":
		s.reading(1, s.boardSVG)(w, r)
	case "embed":
		s.embed(w, r)
	case "held":
		s.reading(1, s.held)(w, r)
	default:
		s.reading(1, s.missing)(w, r)
	}
}

// gamePicture draws the board of a game's page, or the card of its preview.
func (s *server) gamePicture(w http.ResponseWriter, r *http.Request) {
	var v bot.View
	err := s.inTurn(r.Context(), func() (err error) {
		v, err = s.view(r, "", outbox.User{})
		return err
	})
	if err != nil {
		s.failed(w, r, err)
		return
	}
	scene, o := v.Scene, render.Options{Theme: r.URL.Query().Get("theme"), Size: r.URL.Query().Get("size")}
	if r.PathValue("part") == "card.png" {
		scene, o = card(v), render.Options{Layout: "card"}
	} else if counted(v) {
		scene = v.As.Scene
	}
	if !v.Public {
		w.Header().Set("X-Robots-Tag", "noindex")
	}
	w.Header().Set("Cache-Control", "private, no-cache")
	s.draw(w, r, s.queued(scene), o)
}

// queued returns a picture for visitors, which is drawn when it is its turn.
func (s *server) queued(p render.Picture) *drawing {
	d := newDrawing(p)
	d.picture = queued{p, s}
	return d
}

type queued struct {
	render.Picture
	*server
}

func (q queued) Draw(w io.Writer, o render.Options) error {
	return q.inTurn(context.Background(), func() error { return q.Picture.Draw(w, o) }) // it is for others, too
}

// counted reports whether a page has the count of another ruleset.
func counted(v bot.View) bool { return v.As != nil && v.As.Err == "" }

// queryOf returns what an address says besides the moment: the ruleset that counts it.
func queryOf(v bot.View) string {
	if counted(v) {
		return "?as=" + url.QueryEscape(v.As.Rules)
	}
	return ""
}

// card returns the scene of a preview: that of the other ruleset, if one was asked.
func card(v bot.View) render.Scene {
	if !counted(v) {
		return v.Card
	}
	s := v.As.Scene
	s.Black.Name, s.White.Name = v.Card.Black.Name, v.Card.White.Name
	return s
}

// A gameView is the data of a game's page.
type gameView struct {
	head
	View     bot.View
	Room     bool   // the game is played in the local room
	Who      string // the name of the person whom the browser is linked to; empty: none
	Moment   bool   // the address names one; else it is that of the newest
	Compared bool   // the page has the count of another ruleset
	Of       string // number of the newest turn

	Game              string        // path of the newest moment
	Now, Here, Action string        // addresses: of the game, of this moment, and of the page itself
	Start             string        // address of the moment before the first turn
	Back, On          []step        // to moments before and after this one
	List              template.HTML // links to all turns, a lot of them
	Book, Alone       link          // the rules; the page without the other ruleset
	Record            *recordView   // nil: it is a game that was played here
	Embed             string        // HTML with which another page shows the board
	Trial             string        // that these turns only try out what is dead; empty: they do not
	Notes             []string
	Players           []player
	Boards            []boardView
	Play              *playing // nil: who looks does not play
	Sit               []link   // to seats that they can take
	Ledger            []ledgerRow
	Choices           []ruling
	Theme             string // classes of the page, for the theme of its boards
	Return, LookAt    string // where the form of the look leads back to, and what takes it
	Look              []lookField
}

// A step is a link to another moment; without an address there is none.
type step struct{ URL, Label, Sign, Rel string }

type player struct {
	Color       string // "black" or "white"
	Name, Plays string // the name, and the colour if that is not the name
	Prisoners   string
	Clock       string // empty: there is none
	Due         bool
}

type boardView struct {
	Title   string        // of the ruleset, if there are two
	Score   string        // likewise
	SVG     template.HTML // the board; the page beside it says the rest
	Last    string        // its point of the last turn, or else of the last stone: "D4"; empty: none
	Picture string        // address of the picture of board and ledger, to keep
}

type ledgerRow struct {
	Label, Class string
	Cells        []cell // of Black and White; of the other ruleset
	Differs      bool
}

// A cell is a number of the ledger, and the address of the entries from which it comes; empty: it comes
// from no entries.
type cell struct{ Value, Delta, Entries string }

type ruling struct {
	bot.Choice
	Selected bool
}

func (s *server) gameView(r *http.Request, v bot.View) gameView {
	now := gamePath(r)
	at := func(seq int) string { return momentPath(r, seq) }
	query := queryOf(v)
	t := func(english string, args ...string) string { return bot.Translated(v.Lang, english, args...) }
	if v.Scene.Words == nil {
		v.Scene.Words = &render.English
	}
	notes := slices.Concat(v.Scene.Why, v.Scene.Accepted(), v.Scene.Notes, []string{v.Scene.Comment})
	page := gameView{
		head: head{v.Lang, v.Title, v.Public, s.preview(r, v, momentQuery(r, v))}, View: v, Notes: notes, Room: v.Match.Where.Platform == platform,
		Moment: r.PathValue("seq") != "", Compared: counted(v),
		Game: now, Now: now + query, Here: v.Path + momentQuery(r, v), Action: r.URL.Path,
		Book:    link{"/r/" + url.PathEscape(v.Rules), t(wordRules, v.Scene.Ruleset)},
		Players: playersOf(v, v.Scene),
		Choices: s.choices(r.Context(), v), Embed: s.embedCode(r, v, momentQuery(r, v)),
		Theme: "board-auto", Return: r.URL.RequestURI(), LookAt: now + "/look",
	}
	own := looks(r, v)
	page.Look = lookForm(v, own)
	if seat := r.URL.Query().Get("seat"); seat != "" { // the room shows the page to somebody in that seat
		page.Return, page.LookAt = "/", page.LookAt+"?seat="+url.QueryEscape(seat)
	}
	if theme := v.Scene.Look.Theme; own["theme"] != "" {
		page.Theme = "board-" + own["theme"]
	} else if theme != "" {
		page.Theme = "board-yields board-" + theme // to readers who ask for contrast
	}
	board := func(scene render.Scene, prefix string) template.HTML {
		return s.svg(scene, render.Options{Prefix: prefix, Coordinates: own["coordinates"]})
	}
	scenes := []render.Scene{v.Scene}
	page.Boards = []boardView{{SVG: board(v.Scene, "b"), Last: lastPoint(v.Scene), Picture: v.Path + "/board.png" + deadQuery(r, v)}}
	if counted(v) {
		scenes = append(scenes, v.As.Scene)
		page.Boards[0].Title, page.Boards[0].Score = v.Scene.Ruleset, v.Scene.Headline
		page.Boards = append(page.Boards, boardView{v.As.Title, v.As.Scene.Headline, board(v.As.Scene, "a"), lastPoint(v.As.Scene), v.Path + "/board.png" + momentQuery(r, v)})
		page.Alone = link{r.URL.Path, t(wordOnly, v.Scene.Ruleset)}
	}
	if w := v.Scene.Words; v.Trial {
		page.Trial = w.Trial + ": " + w.TrialIs
	}
	for i := range page.Players {
		page.Players[i].Clock = v.Clocks[i]
	}
	page.Ledger = ledgerOf(scenes, t(wordTotal))
	tellEntries(page.Ledger, v.Scene.Words, v.Path, deadQuery(r, v))
	page.steps(v, func(seq int) string { return at(seq) + query }, t)
	return page
}

// svg returns the board of a scene for a page.
func (s *server) svg(scene render.Scene, o render.Options) template.HTML {
	var out strings.Builder
	if err := render.SVGGrid(&out, scene, o, render.PointNames(scene)); err != nil {
		s.log.Error("drawing a board failed", "error", err)
	}
	return template.HTML(out.String())
}

// lastPoint returns the point on which a board marks the last stone; empty: none.
func lastPoint(scene render.Scene) string {
	if at := cmp.Or(scene.Last, scene.Newest); at != nil {
		return at.String()
	}
	return ""
}

// preview returns the preview of a game's page.
func (s *server) preview(r *http.Request, v bot.View, query string) *preview {
	text := v.Text
	if counted(v) {
		text = strings.Join(append([]string{v.As.Title + ":"}, v.As.Differs...), " ")
	}
	return &preview{bot.Within(v.Title, previewTitle), bot.Within(text, previewText), s.address(r, r.URL.Path+query),
		s.cardOf(r, v.Path+"/card.png"+query, card(v))}
}

// steps fills in the links to other moments.
func (page *gameView) steps(v bot.View, at func(seq int) string, t func(string, ...string) string) {
	moments := []int{1} // the start of the game and its turns
	newest := v.Number
	var list strings.Builder // by hand, which takes a tenth of the time of the template
	for i, turned := range v.Turns {
		if i == 0 {
			moments[0] = max(1, turned.Seq-1)
		}
		moments = append(moments, turned.Seq)
		newest = max(newest, turned.Number)
		current := ""
		if turned.Seq == v.Seq {
			current = ` aria-current="page"`
		}
		list.WriteString(`<li><a href="` + html.EscapeString(at(turned.Seq)) + `"` + current + `>` + html.EscapeString(turned.Text) + "</a></li>\n")
	}
	page.List = template.HTML(list.String())
	page.Of, page.Start = strconv.Itoa(newest), at(moments[0])
	later := slices.IndexFunc(append(moments, math.MaxInt), func(seq int) bool { return seq > v.Seq })
	before := later - 1 // the newest moment that is not after this one
	if !v.Taken && before >= 0 && (moments[before] == v.Seq || v.Scene.Playing) {
		before--
	}
	page.Back = []step{{"", t(wordFirst), "«", ""}, {"", t(wordPrevious), "‹", "prev"}}
	if before >= 0 {
		page.Back[0].URL, page.Back[1].URL = at(moments[0]), at(moments[before])
	}
	page.On = []step{{"", t(wordNext), "›", "next"}, {"", t(wordNewest), "»", ""}}
	if v.Seq < v.Match.Seq {
		next := v.Match.Seq
		if later < len(moments) {
			next = moments[later]
		}
		page.On[0].URL, page.On[1].URL = at(next), page.Now
	}
}

// playersOf returns the players of a scene of a view.
func playersOf(v bot.View, s render.Scene) []player {
	seats := v.Match.Where.Platform == platform
	return []player{playerOf(s, rules.Black, seats), playerOf(s, rules.White, seats)}
}

// playerOf returns a player as the page shows them. Seats of the local room have names that
// nobody has chosen, so they are in the language of the page.
func playerOf(s render.Scene, c rules.Color, seats bool) player {
	p, out := s.Black, player{Color: "black", Name: s.Words.Black}
	if c == rules.White {
		p, out = s.White, player{Color: "white", Name: s.Words.White}
	}
	name := bot.CleanName(p.Name)
	switch {
	case !seats:
	case name == black.Name:
		name = s.Words.Black
	case name == white.Name:
		name = s.Words.White
	}
	if p.Name != "" && name != out.Name {
		out.Name, out.Plays = name, out.Name
	}
	out.Due, out.Prisoners = p.Due, s.Words.Things[rules.Prisoner]+": "+strconv.Itoa(p.Bowl.Prisoners)
	return out
}

// ledgerOf returns the ledger of one scene, or of two beside each other: the rows of the
// first, those that only the second has, and the totals.
func ledgerOf(scenes []render.Scene, total string) (out []ledgerRow) {
	index := map[string]int{}
	add := func(i int, label, class string, black, white cell) {
		at, known := index[label]
		if !known {
			at = len(out)
			index[label] = at
			out = append(out, ledgerRow{Label: label, Class: class, Cells: make([]cell, 2*len(scenes))})
		}
		out[at].Cells[2*i], out[at].Cells[2*i+1] = black, white
	}
	for i, s := range scenes {
		for _, row := range s.Rows {
			class := ""
			if row.Kind == render.Aside {
				class = "aside"
			}
			black, white := cellOf(row.Black), cellOf(row.White)
			if len(scenes) > 1 { // beside another count, what the turn changed is noise
				black.Delta, white.Delta = "", ""
			}
			add(i, row.Label, class, black, white)
		}
	}
	for i, s := range scenes {
		if s.Counted {
			add(i, total, "total", cell{Value: s.Black.Total.String()}, cell{Value: s.White.Total.String()})
		}
	}
	for i, row := range out {
		if c := row.Cells; len(c) == 4 && scenes[0].Counted && scenes[1].Counted { // else one of them has not all lines
			out[i].Differs = c[0].Value != c[2].Value || c[1].Value != c[3].Value
		}
	}
	return out
}

func cellOf(c render.Cell) (out cell) {
	if c.Blank {
		return out
	}
	out.Value = c.Value.String()
	if c.Delta > 0 {
		out.Delta = "+" + c.Delta.String()
	} else if c.Delta < 0 {
		out.Delta = c.Delta.String()
	}
	return out
}

// pageReader is the user of requests for readers of pages. It has no id, so the bot stores
// nothing about it.
var pageReader = outbox.User{Platform: platform}

// choices returns the rulesets by which a page can count.
func (s *server) choices(ctx context.Context, v bot.View) (out []ruling) {
	req := request(pageReader)
	req.Command = "new"
	for _, c := range s.service.Suggest(ctx, req, "rules", "") {
		selected := v.As != nil && c.Value == v.As.Rules
		if selected || c.Value != v.Rules {
			out = append(out, ruling{c, selected})
		}
	}
	return out
}

// A rulesView is the data of a ruleset's page.
type rulesView struct {
	head
	RulesLang string // of the rules, if it is not that of the page
	About     []string
	Parts     []rulesPart
}

// A rulesPart is a heading with its rules, or paragraphs.
type rulesPart struct {
	Heading string
	Text    [][]link
	Rules   []string
}

// rulesPage shows a ruleset as /rules recites it.
func (s *server) rulesPage(w http.ResponseWriter, r *http.Request) {
	lang := pageLanguage(browserLanguage(r))
	req := request(pageReader)
	req.ID, req.Command, req.Args, req.Lang, req.Shows = platform+":rules", "rules", map[string]string{"name": r.PathValue("ruleset")}, lang, true
	all, err := s.service.Ask(r.Context(), req)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	p := all.Own()
	if p.Refused {
		var meant []link
		for _, c := range p.Controls {
			meant = append(meant, link{"/r/" + url.PathEscape(c.Args["name"]), c.Label})
		}
		s.say404(w, r, words(p.Text), meant)
		return
	}
	v := recited(p)
	v.Preview = &preview{bot.Within(v.Title, previewTitle), bot.Within(strings.Join(v.About, " "), previewText), s.address(r, r.URL.EscapedPath()), nil}
	if example, err := s.service.View(r.Context(), bot.Viewing{Rules: r.PathValue("ruleset"), Lang: lang}); err == nil {
		v.Preview.Image = s.cardOf(r, r.URL.EscapedPath()+"/card.png", example.Scene)
	}
	s.write(w, http.StatusOK, "rules.html", false, v)
}

// rulesCard draws the picture in the preview of a ruleset's page.
func (s *server) rulesCard(w http.ResponseWriter, r *http.Request) {
	v, err := s.service.View(r.Context(), bot.Viewing{Rules: r.PathValue("ruleset")})
	if err != nil {
		s.failed(w, r, err)
		return
	}
	w.Header().Set("X-Robots-Tag", "noindex")
	w.Header().Set("Cache-Control", "private, no-cache")
	s.draw(w, r, s.queued(v.Scene), render.Options{Layout: "card"})
}

// cardOf returns the picture of a preview, which shows a scene and is at a path.
func (s *server) cardOf(r *http.Request, path string, scene render.Scene) *image {
	width, height, _ := render.Options{Layout: "card"}.Bounds()
	alt, _, _ := strings.Cut(scene.Text(), "\n") // without the board in letters
	return &image{s.address(r, path), alt, width, height}
}

var titled = regexp.MustCompile(`^(.+) \(\S+@\d+\)$`)

// recited lays out what the bot recites: about the ruleset, its title, paragraphs, and
// lists under their headings.
func recited(p outbox.Post) rulesView {
	v := rulesView{head: head{Lang: cmp.Or(p.Lang, bot.Languages()[0])}}
	if v.Lang != bot.Languages()[0] { // rules are in the words of their sources
		v.RulesLang = bot.Languages()[0]
	}
	const mark = "\x00"
	lines := strings.Split(bot.Fill(p.Text, bot.Format{Address: func(address string) string { return mark + address + mark }}), "\n")
	for i, line := range lines {
		rule, isRule := strings.CutPrefix(line, "  - ")
		last := len(v.Parts) - 1
		switch {
		case line == "":
		case v.Title == "" && !titled.MatchString(line):
			v.About = append(v.About, line)
		case v.Title == "":
			v.Title = titled.FindStringSubmatch(line)[1]
			v.Parts = []rulesPart{{}}
		case isRule:
			v.Parts[last].Rules = append(v.Parts[last].Rules, rule)
		case i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  - "):
			v.Parts = append(v.Parts, rulesPart{Heading: line})
		default:
			if len(v.Parts[last].Rules) > 0 {
				v.Parts = append(v.Parts, rulesPart{})
				last++
			}
			var paragraph []link
			for j, piece := range strings.Split(line, mark) {
				if l := (link{Text: piece}); j%2 == 1 {
					paragraph = append(paragraph, link{piece, piece})
				} else if piece != "" {
					paragraph = append(paragraph, l)
				}
			}
			v.Parts[last].Text = append(v.Parts[last].Text, paragraph)
		}
	}
	return v
}
