package match

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// How games begin: opened, joined, or as a rematch.

// maxFree is how many handicap stones Black may place freely.
const maxFree = 50

// Limits are how many unfinished games one channel may have.
type Limits struct {
	Person  int // of each person who opens games
	Channel int // of all
}

// DefaultLimits are the limits without any configuration.
var DefaultLimits = Limits{Person: 20, Channel: 200}

// newGame opens a game, and begins it if both seats are known.
func newGame(in *Input) Step {
	if s, closed := in.closed(); closed {
		return s
	}
	if in.Room.Opens == "moderators" && !in.Request.Moderator {
		return in.Refuse(say("opens.moderators"))
	}
	r, typed, board, err := in.newRules()
	if err != nil {
		return in.whichRules(err, board)
	}
	m := Match{
		ID: in.NewID, Rules: r.Stored(), NoHints: in.Room.Hints == "off", Opener: in.By, Where: in.Request.Where,
		Opened: in.Now, Standing: Standing{State: Open, Page: in.NewPage},
	}
	if in.arg("hints") != "" {
		m.NoHints = !in.yes("hints")
	}
	if m.Setup, err = in.newSetup(r, board); err != nil {
		return in.Refuse(wrong(err))
	}
	if typed := cmp.Or(in.arg("clock"), in.Room.Clock); typed != "" {
		if m.Clock, err = clock.Parse(typed); err != nil {
			return in.Refuse(wrong(err))
		}
	}
	g, _, err := m.begin(r, nil)
	if err != nil {
		return in.Refuse(wrong(err))
	}
	if err := in.takeSeats(&m); err != nil {
		return in.Refuse(wrong(err))
	}
	about := text.About(typed, r)
	if in.Alone && in.arg("opponent") == "" {
		about = append(about, say("alone"))
	}
	return in.opening(m).openOrBegin(g, about...)
}

// arg returns what was typed for an option.
func (in *Input) arg(option string) string { return strings.TrimSpace(in.Request.Args[option]) }

// newRules returns the ruleset of a new game, what was typed for it, and for its board.
func (in *Input) newRules() (r *rules.Ruleset, typed, board string, err error) {
	typed, board = in.arg("rules"), in.arg("size")
	if typed != "" && typed[0] >= '0' && typed[0] <= '9' { // "/new 9x9" and "/new 9x9 aga" are plain enough
		typed, board = board, typed
	}
	typed, board = cmp.Or(typed, in.Room.Rules), cmp.Or(board, in.Room.Size)
	if typed == "" {
		return &rules.TwoButton, "", board, nil
	}
	r, err = in.Rulesets.Find(typed)
	return r, typed, board, err
}

// whichRules refuses to guess the ruleset of a new game. Buttons ask again for each of those
// that may be meant, unless somebody else is invited: a button cannot name them.
func (in *Input) whichRules(err error, board string) Step {
	s := in.Refuse(wrong(err))
	if in.arg("opponent") != "" && !in.invitesMe() {
		return s
	}
	args := maps.Clone(in.Request.Args)
	delete(args, "size")
	if _, _, ok := ParseSize(board); ok { // else it may be a word of the name
		args["size"] = board
	}
	s.Answer.Controls = Choose(err, "new", "rules", args)
	return s
}

// newSetup returns the board, komi and handicap of a new game.
func (in *Input) newSetup(r *rules.Ruleset, board string) (s rules.Setup, err error) {
	s = rules.Setup{W: 9, H: 9, Komi: r.Komi}
	if board != "" {
		w, h, ok := ParseSize(board)
		if !ok {
			return s, text.Error("bad.size", shortened(board))
		}
		s.W, s.H = w, h
	}
	if komi := in.arg("komi"); komi != "" && komi != "default" {
		s.Komi, err = rules.ParsePoints(komi)
		if err == nil && max(s.Komi, -s.Komi) > rules.MaxKomi {
			err = rules.Saying{Text: "{0} is too large", Args: []any{s.Komi}}
		}
		if err != nil {
			return s, text.Error("bad.komi", text.Sentence(err))
		}
	}
	if in.arg("handicap") == "" {
		return s, nil
	}
	if s.Handicap, err = Number(in.Request.Args, "handicap", 0); err != nil {
		return s, err
	}
	switch how := strings.ToLower(in.arg("placement")); how {
	case "", "fixed":
		s.Black, err = rules.HandicapPoints(s.W, s.H, s.Handicap)
	case "free":
		if most := min(maxFree, s.W*s.H/2); s.Handicap == 1 || s.Handicap < 0 || s.Handicap > most {
			err = text.Error("bad.free", strconv.Itoa(most))
		}
	default:
		err = text.Error("bad.placement", shortened(how))
	}
	return s, err
}

// colors are the words for the colour that the person who opens a game plays; a coin may
// still change one that is random.
var colors = map[string]rules.Color{"": rules.Black, "black": rules.Black, "b": rules.Black, "white": rules.White, "w": rules.White,
	"random": rules.Black, "nigiri": rules.Black}

// invitesMe reports whether somebody opens a game with "me".
func (in *Input) invitesMe() bool {
	return strings.EqualFold(in.arg("opponent"), text.English.Say(say("opponent.me")))
}

// anybody are words for no particular opponent. Where people choose their names somebody may have
// one of them, who would be the only one to get in.
var anybody = []string{"anyone", "anybody", "everyone", "everybody"}

// takeSeats seats the person who opens a game, and their opponent if there is one already;
// otherwise it says who is invited.
func (in *Input) takeSeats(m *Match) error {
	color := strings.ToLower(in.arg("color"))
	mine, known := colors[color]
	switch {
	case !known:
		return text.Error("bad.color", shortened(color))
	case in.Coin && (color == "random" || color == "nigiri"):
		mine = rules.White
	}
	m.sit(mine, in.By)
	opponent := in.arg("opponent")
	switch other, known := in.Users["opponent"]; {
	case in.invitesMe(), known && other == in.By:
		m.sit(mine.Opponent(), in.By)
	case known && slices.Contains(in.Seats[:], other):
		m.sit(mine.Opponent(), other)
	case in.Alone && opponent != "":
		return text.Error("alone.opponent")
	case slices.Contains(anybody, strings.ToLower(opponent)):
		return text.Error("opponent.anybody", shortened(opponent))
	case known:
		m.Invited = other
	case opponent != "":
		return text.Error("unknown.user", shortened(opponent))
	case in.Alone:
		m.sit(mine.Opponent(), in.By)
	case slices.Contains(in.Seats[:], in.By):
		m.Black, m.White = in.Seats[0], in.Seats[1]
		if color != "" && m.Seat(mine) != in.By {
			m.Black, m.White = m.White, m.Black
		}
	}
	return nil
}

func (in *Input) opened() text.Message {
	title, size, komi, handicap := in.Match.terms()
	return say("opened", named(in.By), text.ThisGame, title, size, komi, handicap)
}

func (in *Input) seatOpen() text.Message {
	if in.Match.Invited != "" {
		return say("opened.for", text.Called(string(in.Match.Invited)))
	}
	return say("opened.anyone", text.Color(in.Match.openSeat()))
}

func (in *Input) started() []text.Message {
	out := []text.Message{in.Match.Started()}
	if in.Seats == [2]PersonID{in.Match.Black, in.Match.White} && in.Match.Black != in.Match.White {
		title, size, komi, handicap := in.Match.terms()
		out = []text.Message{say("started.seats", text.ThisGame, title, size, komi, handicap)}
	}
	if in.Match.free() {
		out = append(out, say("placing.first", strconv.Itoa(in.Match.Setup.Handicap), in.exampleFree(2)))
	}
	if in.Match.NoHints {
		out = append(out, say("no.hints", text.ThisGame))
	}
	return out
}

// Started says that the game begins, on which terms, and who plays.
func (m Match) Started() text.Message {
	title, size, komi, handicap := m.terms()
	if m.Black == m.White {
		return say("started.alone", text.ThisGame, title, size, komi, handicap, named(m.Black))
	}
	return say("started", text.ThisGame, title, size, komi, handicap, named(m.Black), named(m.White))
}

// terms returns the title, size, komi and handicap of a game, as arguments of a text.
func (m Match) terms() (title, size string, komi, handicap text.Message) {
	r, err := rules.Find(m.Rules)
	if err != nil {
		return m.Rules, "", text.Points(m.Setup.Komi), text.Message{}
	}
	s := m.Setup
	var stones, rated, timed any = "", "", ""
	switch {
	case m.free():
		stones = say("handicap.free", s.Handicap)
	case s.Handicap > 0:
		stones = say("handicap", s.Handicap)
	}
	if m.Rated {
		rated = say("rated")
	}
	if m.Clock.Kind != clock.None {
		timed = say("with.clock", m.Clock.Text())
	}
	return r.Title, fmt.Sprintf("%d×%d", s.W, s.H), text.Points(s.Komi), say("joined", stones, rated, timed, "")
}

// join takes the open seat.
func join(in *Input) Step {
	m := in.Match
	switch {
	case m.State == Ended && in.asked("rematch") && in.plays():
		return rematch(in)
	case m.State == Open && m.Invited != "" && m.Invited != in.By && m.Opener != in.By:
		return in.Refuse(say("not.invited", in.number(), named(m.Invited)))
	case m.State == Open && m.Opener == in.By:
		return in.Refuse(say("yourself", in.number()))
	case in.plays():
		return in.Refuse(say("already.in", in.number()))
	}
	if s, gone := in.gone(); gone {
		return s
	}
	if m.State != Open {
		return in.Refuse(say("full", in.number(), named(m.Black), named(m.White)))
	}
	seat := m.openSeat()
	m.sit(seat, in.By)
	m.State = Going
	in = in.with(m.Standing)
	return in.starts(nil, body(eventJoin, seat.Letter(), in.By))
}

// ParseSize reads "9", "9x13", "9×13" and "9*13".
func ParseSize(s string) (w, h int, ok bool) {
	a, b, two := strings.Cut(strings.NewReplacer("×", "x", "*", "x", ":", "x").Replace(strings.ToLower(s)), "x")
	if !two {
		b = a
	}
	w, _ = strconv.Atoi(strings.TrimSpace(a)) // 0 if it is no number
	h, _ = strconv.Atoi(strings.TrimSpace(b))
	return w, h, min(w, h) >= 1 && max(w, h) <= rules.MaxLines
}

// rematch asks for another game with colours changed, or agrees to one, which then
// begins. One person, or two at one computer, need not ask.
func rematch(in *Input) Step {
	old := in.Match
	if s, gone := in.gone(); gone {
		return s
	}
	if old.State != Ended {
		return in.Refuse(say("rematch.when", in.number()))
	}
	if !in.plays() {
		return in.Refuse(say("onlooker", in.number()))
	}
	if slices.Contains(in.Erased, old.Black) || slices.Contains(in.Erased, old.White) {
		return in.Refuse(say("rematch.erased", in.number()))
	}
	if s, closed := in.closed(); closed {
		return s
	}
	r, err := rules.Find(old.Rules)
	if err != nil {
		return in.Refuse(wrong(err))
	}
	played := old.Rules
	if today, err := rules.Find(r.Name); err == nil && !r.IsCustom() { // there may be a newer version
		r, played = today, today.ID()
	}
	g, _, err := old.begin(r, nil)
	if err != nil {
		return in.Refuse(wrong(err))
	}
	m := Match{ID: in.NewID, Rules: played, Setup: old.Setup, Clock: old.Clock, NoHints: old.NoHints, Opener: in.By, Where: in.Request.Where,
		Opened: in.Now, Standing: Standing{State: Open, Page: in.NewPage}}
	m.Black, m.White = old.White, old.Black
	since, yours := in.ended(), in.Yours
	var replaces []GameID
	switch local := slices.Contains(in.Seats[:], old.Black) && slices.Contains(in.Seats[:], old.White); {
	case old.Black == old.White:
	case local: // a seat keeps its colour, and the people change seats
		m.Black, m.White = in.Seats[0], in.Seats[1]
	case in.askedByOther("rematch"):
		m.Opener, since = old.Seat(in.Position.Asked.By), in.Position.happened(in.Position.Asked.Seq-1)
		replaces, yours = []GameID{old.ID}, nil // joining a game has no limit either
	default:
		if s, many := in.tooMany(); many {
			return s
		}
		return in.ask("rematch", say("request.rematch", named(in.By), in.other(), in.number(), named(m.Black), named(m.White)), say("request.how.rematch", in.number()))
	}
	if again := in.again(m, since); again > 0 {
		return in.Refuse(say("rematch.already", in.number(), strconv.Itoa(again)))
	}
	next := in.opening(m)
	next.Yours = yours
	s := next.openOrBegin(g, text.About("", r)...)
	if s.New {
		s.Replaces = replaces
	}
	return s
}

// again returns the number of m, a rematch, if it has begun since a time, else 0.
func (in *Input) again(m Match, since time.Time) int {
	for _, g := range in.Yours {
		if g.State == Going && m.sameTerms(g) && g.Black == m.Black && g.White == m.White && !g.Opened.Before(since) {
			return g.Number
		}
	}
	return 0
}

// ended returns when the match ended; what players say afterwards does not matter.
func (in *Input) ended() (at time.Time) {
	for i, e := range slices.Backward(in.events()) {
		at = in.Position.happened(i)
		if !slices.Contains([]EventKind{eventComment, eventAsk, eventDeny, eventCredit}, e.Body.Kind) {
			break
		}
	}
	return at
}

// sameTerms reports whether two games are played with the same rules, board and clock.
func (m Match) sameTerms(o Match) bool {
	return o.Rules == m.Rules && o.Clock == m.Clock && o.Rated == m.Rated && o.NoHints == m.NoHints && reflect.DeepEqual(o.Setup, m.Setup)
}

// openOrBegin begins the match if both seats are taken, and otherwise opens it. The texts
// about the game are part of the challenge if there is one, and otherwise of the first
// board, because a platform may overwrite the line above that.
func (in *Input) openOrBegin(g *rules.Game, about ...text.Message) Step {
	m := in.Match
	var replaces []GameID
	if m.Black == "" || m.White == "" {
		replaces = in.replaced()
	}
	if s, many := in.tooMany(); many && len(replaces) == 0 {
		return s
	}
	var s Step
	if m.Black != "" && m.White != "" {
		m.State = Going
		s = in.with(m.Standing).starts(about, body(eventJoin, "B", m.Black), body(eventJoin, "W", m.White))
	} else {
		if m.NoHints {
			about = append(about, say("no.hints", text.ThisGame))
		}
		s = in.step(words{above: slices.Concat([]text.Message{in.opened()}, about, []text.Message{in.seatOpen()}), calls: m.Invited}, body(eventOpen))
	}
	s.New, s.Replaces = true, replaces
	return s
}

// starts returns the step with which a game begins. Its notice is one line, which a
// platform may write over another or put above the first board; all else that is to be
// read stands below the board.
func (in *Input) starts(about []text.Message, joins ...Body) Step {
	started := in.started()
	return in.step(words{above: started[:1], board: append(about, started[1:]...)}, append(joins, body(eventBegin))...)
}

// closed refuses to open a game where the settings do not allow it.
func (in *Input) closed() (Step, bool) {
	if in.Room.Opens != "nobody" {
		return Step{}, false
	}
	texts := []text.Message{say("opens.nobody")}
	if len(in.Welcome) > 0 {
		var rooms []text.Message
		for _, r := range in.Welcome {
			rooms = append(rooms, r.Link(say("games.here")))
		}
		texts = append(texts, say("opens.elsewhere", text.List(rooms...)))
	} else {
		texts = append(texts, say("opens.how"))
	}
	return in.Refuse(texts...), true
}

// tooMany refuses to open a game beyond the limits.
func (in *Input) tooMany() (Step, bool) {
	yours := in.unfinished(false)
	switch {
	case len(in.Here) >= in.Limits.Channel:
		return in.Refuse(say("too.many.here", strconv.Itoa(len(in.Here)))), true
	case yours >= in.Limits.Person:
		return in.Refuse(say("too.many.yours", strconv.Itoa(yours))), true
	}
	return Step{}, false
}

// replaced returns the open challenges of the same person that the challenge in.Match
// replaces: those to the same opponent, and those to anybody with the same terms. A
// person who repeats a challenge has changed their mind, or did not see the first one.
func (in *Input) replaced() (ids []GameID) {
	m := in.Match
	for _, old := range in.Yours {
		if old.State == Open && old.Opener == in.By && old.Where == m.Where && old.Invited == m.Invited && (m.Invited != "" || m.sameTerms(old)) {
			ids = append(ids, old.ID)
		}
	}
	return ids
}

// Replace cancels an open challenge that game by of the same opener has replaced,
// unless somebody has joined it meanwhile. Of a game that is over it ends the request for
// the rematch, which game by is.
func Replace(in *Input, opener PersonID, by Match) Step {
	if in.Match.State == Ended && in.asked("rematch") {
		asker := in.Match.Seat(in.Position.Asked.By)
		in = in.as(opener)
		calls := asker
		if asker == in.Match.White { // who moves first now: the board calls them
			calls = opener
		}
		player := func(p PersonID) any {
			if p == calls && p != opener {
				return text.Called(string(p))
			}
			return named(p)
		}
		agreed := say("rematch.agreed", named(opener), strconv.Itoa(by.Number), player(by.Black), player(by.White))
		return in.step(words{above: []text.Message{agreed}, calls: calls, quiet: true}, body(eventDeny))
	}
	if in.Match.State != Open {
		return in.Refuse()
	}
	return in.as(opener).close(Cancelled, body(eventCancel), above(say("replaced", strconv.Itoa(by.Number), in.number())))
}

// unfinished counts the games, or the sandboxes, of the person asking. Games that others
// left in their seat do not count.
func (in *Input) unfinished(sandboxes bool) (n int) {
	for _, m := range in.Yours {
		if (m.State == Sandbox) == sandboxes && !m.Opened.Before(in.Sat) {
			n++
		}
	}
	return n
}
