package bot_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

var silent = slog.New(slog.DiscardHandler)

var update = flag.Bool("update", false, "write the conversations as the bot has them now; read them before you commit")

// A platform shows posts by calling the function.
type platform func(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error)

func (platform) Name() string                                 { return "chat" }
func (platform) Run(ctx context.Context, _ bot.Service) error { <-ctx.Done(); return nil }

func (f platform) Deliver(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	return f(ctx, p)
}

// A channel is a chat platform that remembers what it was shown.
type channel struct {
	platform
	mu    sync.Mutex
	posts []outbox.Post
	shown int // ever
}

func newChannel() *channel {
	c := &channel{}
	c.platform = func(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.posts = append(c.posts, p)
		c.shown++
		return outbox.Receipt(strconv.Itoa(c.shown)), nil, nil
	}
	return c
}

// newStore returns a store in memory.
func newStore(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open(context.Background(), store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// talk is a bot, its store and a channel with people in it.
type talk struct {
	store   bot.Store
	bot     *bot.Bot
	channel *channel
	now     time.Time
	n       int
	speaks  map[string]string // languages of people's programs; of the room as the platform says, by ""
	server  string            // to which all channels belong
	ids     counting
}

func newTalk(t testing.TB) *talk {
	t.Helper()
	return newTalkOn(newStore(t))
}

func newTalkOn(st bot.Store) *talk {
	k := &talk{store: st, channel: newChannel(), now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	k.start(bot.Config{})
	return k
}

// exports returns the export of the store, and checks that its import exports the same.
func (k *talk) exports(t testing.TB) string {
	t.Helper()
	var first, second strings.Builder
	again := newStore(t)
	must(t, k.store.(*store.Store).Export(t.Context(), &first))
	must(t, again.Import(t.Context(), strings.NewReader(first.String())))
	must(t, again.Export(t.Context(), &second))
	if first.String() != second.String() {
		t.Errorf("exported:\n%s\nimported, and exported again:\n%s", first.String(), second.String())
	}
	return first.String()
}

// start starts the bot, the first time or again.
func (k *talk) start(c bot.Config) {
	if c.Rand == nil {
		c.Rand = &k.ids
	}
	c.Log, c.Now, c.Deliveries = silent, k.clock, 1
	k.bot = bot.New(k.store, c)
}

// alive makes the bot believe that it has looked at the time every few seconds
// until now.
func (k *talk) alive(t testing.TB) {
	t.Helper()
	must(t, k.store.SetBookmark(t.Context(), "bot:alive", fmt.Sprint(k.now.UnixMilli())))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// clock is what the bot takes the time from.
func (k *talk) clock() time.Time { return k.now }

// counting is a source of games' ids that rise. What happens in several games at
// the same time happens in the order of their ids, and transcripts need an order.
type counting struct{ n atomic.Uint32 }

func (c *counting) Read(p []byte) (int, error) {
	clear(p)
	binary.BigEndian.PutUint32(p, c.n.Add(1))
	return len(p), nil
}

// request makes the request of a line that somebody typed: "ada", or "ada@hall"
// in another channel than the club, or "ada@mail:hall" on another platform; in a channel whose
// name begins with dm- the person is alone with the bot. Ask returns its answer.
func (k *talk) request(who, text string) (bot.Request, error) {
	r, err := k.line(who, text)
	return bot.Told(r), err
}

// line makes such a request, of which the bot delivers the answer.
func (k *talk) line(who, text string) (bot.Request, error) {
	command, args, err := bot.Parse(text)
	who, where, _ := strings.Cut(who, "@")
	room := match.Room{Platform: "chat", Channel: cmp.Or(where, "club")}
	if platform, channel, ok := strings.Cut(where, ":"); ok {
		room = match.Room{Platform: platform, Channel: channel}
	}
	k.n++
	r := bot.Request{
		ID: fmt.Sprintf("chat:%d", k.n), Who: person(who), Where: room, Server: k.server,
		Command: command, Args: args, Moderator: strings.HasPrefix(who, "mod") || who == "owner", Manager: who == "owner",
		Lang: k.speaks[who], RoomLang: k.speaks[""], Direct: strings.HasPrefix(room.Channel, "dm-"),
	}
	r.Users = map[string]outbox.User{}
	for _, option := range []string{"opponent", "player", "other"} {
		if o := args[option]; o != "" && o != "me" {
			r.Users[option] = person(o)
		}
	}
	return r, err
}

func person(name string) outbox.User {
	return outbox.User{Platform: "chat", ID: strings.ToLower(name), Name: strings.ToUpper(name[:1]) + name[1:]}
}

// ask lets somebody ask at once, without a look at the time before.
func (k *talk) ask(t testing.TB, who, text string) outbox.Post {
	t.Helper()
	r, err := k.request(who, text)
	must(t, err)
	a, err := k.bot.Ask(t.Context(), r)
	if err != nil {
		t.Fatalf("%s> %s: %v", who, text, err)
	}
	return a.Own()
}

func (k *talk) tick(t testing.TB) {
	t.Helper()
	_, err := k.bot.Tick(t.Context())
	must(t, err)
}

// posts delivers what is due, and returns what was shown since it was called last.
func (k *talk) posts(t testing.TB) []outbox.Post {
	t.Helper()
	must(t, k.bot.Flush(t.Context(), k.channel))
	posts := k.channel.posts
	k.channel.posts = nil
	return posts
}

// say lets somebody say something a minute later, and returns what follows.
func (k *talk) say(t testing.TB, who, text string) (outbox.Post, []outbox.Post) {
	t.Helper()
	k.now = k.now.Add(time.Minute)
	if _, _, err := bot.Parse(text); err != nil {
		return outbox.Post{Text: bot.Explain(err, k.speaks[who]), Private: true}, nil
	}
	k.alive(t)
	k.tick(t)
	a := k.ask(t, who, text)
	return a, k.posts(t)
}

// lines are said one after the other: "ada> /pass".
func (k *talk) lines(t testing.TB, lines ...string) {
	t.Helper()
	for _, l := range lines {
		who, text, _ := strings.Cut(l, "> ")
		k.say(t, who, text)
	}
}

// wait lets time pass, in which the bot is there and looks whenever something
// is due.
func (k *talk) wait(t testing.TB, d time.Duration) (posts []outbox.Post) {
	t.Helper()
	end := k.now.Add(d)
	for k.now.Before(end) {
		next, err := k.store.NextDue(t.Context())
		must(t, err)
		if k.now = end; !next.IsZero() && next.Before(end) {
			k.now = next
		}
		k.alive(t)
		k.tick(t)
		posts = append(posts, k.posts(t)...)
	}
	return posts
}

// in says in which servers the bot is.
func (k *talk) in(t testing.TB, servers ...string) {
	t.Helper()
	must(t, k.bot.Report(t.Context(), bot.Servers{Platform: "chat", In: servers}))
}

func (k *talk) matches(t testing.TB, q bot.Query) []match.Match {
	t.Helper()
	ms, err := k.store.Matches(t.Context(), q)
	must(t, err)
	return ms
}

// clubRoom is where people talk unless they say.
var clubRoom = match.Room{Platform: "chat", Channel: "club"}

// events returns the bodies of the events of a game of the club.
func (k *talk) events(t testing.TB, number int) (bodies []string) {
	t.Helper()
	_, events, err := k.store.Match(t.Context(), k.matches(t, bot.Query{Where: clubRoom, Number: number})[0].ID)
	must(t, err)
	for _, e := range events {
		bodies = append(bodies, e.Body.String())
	}
	return bodies
}

// Conversations are frozen: what is indented is what the bot said. "ada> text"
// is a line that somebody typed, see [talk.request], and "ada speaks de" tells the
// language of their program. Other lines change the world:
//
//	server guild   the server of all channels from there on
//	in guild club  the servers that the bot is in
//	away, back     the platform is
//	+ 20h          time passes
//	restart        the bot is started again
//	off 10h        so is it, after so long
//	limits 2 4     so is it, and a person may open 2 games, and all together 4
//	address x      so is it, with this public_url
//	encrypted      the club is, as its platform says
//	rulesets x     so is it, with the ruleset of testdata/x.yaml
//	= picture      describes the picture that was shown last
//	= file         shows the file that was given last
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got, k := converse(t, string(file))
			k.exports(t)
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, have := strings.Split(string(file), "\n"), strings.Split(got, "\n")
			for i := range max(len(want), len(have)) {
				if i >= len(want) || i >= len(have) || want[i] != have[i] {
					t.Fatalf("%s:%d:\n%q\nthe bot says\n%q", name, i+1, slices.Concat(want, []string{"", ""})[min(i, len(want))], slices.Concat(have, []string{"", ""})[min(i, len(have))])
				}
			}
		})
	}
}

// inChat is how the chat platform writes what is its own.
var inChat = bot.Format{Room: func(r bot.Place, words string) string {
	if r.Under != "" {
		return "#" + r.Channel + " (" + words + ")"
	}
	return "#" + r.Channel
}}

func converse(t *testing.T, script string) (string, *talk) {
	k := newTalk(t)
	k.speaks = map[string]string{}
	var out strings.Builder
	var pictured *render.Scene
	var given *outbox.File
	give := func(f *outbox.File) {
		if given = f; strings.HasSuffix(f.Name, ".sgf") {
			readable(t, string(f.Data))
		}
	}
	block := func(head, text string) {
		for i, l := range strings.Split(text, "\n") {
			if i == 0 {
				l = head + l
			}
			if l != "" {
				out.WriteString(strings.TrimRight("    "+l, " ") + "\n")
			}
		}
	}
	show := func(posts []outbox.Post) {
		for _, p := range posts {
			if showPost(block, p); p.File != nil {
				give(p.File)
			}
			if p.Scene != nil {
				pictured = p.Scene
				// Whoever looks at it later sees the same.
				if later, err := k.bot.View(t.Context(), bot.Viewing{Game: p.Game, Seq: p.Seq}); err != nil || !reflect.DeepEqual(later.Scene, *p.Scene) {
					t.Errorf("%s looks otherwise later: %v", p.ID, err)
				}
			}
		}
	}
	for _, input := range strings.Split(strings.TrimRight(script, "\n"), "\n") {
		if strings.HasPrefix(input, " ") {
			continue
		}
		out.WriteString(input + "\n")
		words := strings.Fields(input)
		switch who, text, said := strings.Cut(input, "> "); {
		case said && input[0] != '#':
			a, posts := k.say(t, who, text)
			if a.Text = bot.Fill(a.Text, inChat); a.Text != "" {
				to := ""
				if a.Private {
					to = "(to " + who + ") "
				}
				block(to, a.Text)
			}
			if a.Scene != nil {
				pictured = a.Scene
				block("", "a picture"+looks(a.Scene))
			}
			if a.Chart != nil {
				block("", "a chart:\n"+indented(a.Chart.Letters()))
			}
			if a.Sheet != nil {
				block("", "a table:\n"+indented(a.Sheet.Letters()))
			}
			for _, c := range a.Controls {
				block("", "["+c.Label+"] /"+c.Command+" "+fmt.Sprint(c.Args))
			}
			if a.File != nil {
				block("", "file "+a.File.Name)
				give(a.File)
			}
			show(posts)
		case len(words) == 3 && words[1] == "speaks":
			k.speaks[strings.TrimPrefix(words[0], "the-room")] = words[2]
		case input == "= picture":
			block("", render.Text(*pictured))
		case input == "= file":
			block("", string(given.Data))
		case words[0] == "+":
			d, err := time.ParseDuration(words[1])
			must(t, err)
			show(k.wait(t, d))
		case words[0] == "server":
			k.server = strings.Join(words[1:], "")
		case words[0] == "in":
			k.in(t, words[1:]...)
		case input == "away":
			must(t, k.bot.Report(t.Context(), bot.Away{Platform: "chat"}))
		case input == "back":
			must(t, k.bot.Report(t.Context(), bot.Back{Platform: "chat"}))
		case words[0] == "limits":
			var l match.Limits
			_, err := fmt.Sscan(words[1]+" "+words[2], &l.Person, &l.Channel)
			must(t, err)
			k.start(bot.Config{Games: l})
		case words[0] == "rulesets":
			own, err := bot.ReadRulesets([]string{"testdata/" + words[1] + ".yaml"})
			must(t, err)
			k.start(bot.Config{Rulesets: own})
		case words[0] == "address":
			k.start(bot.Config{PublicURL: words[1]})
		case input == "encrypted":
			must(t, k.bot.Report(t.Context(), bot.Encrypted{Where: clubRoom}))
		case input == "restart":
			k.start(bot.Config{})
		case words[0] == "off":
			d, err := time.ParseDuration(words[1])
			must(t, err)
			k.alive(t)
			k.now = k.now.Add(d)
			k.start(bot.Config{})
			k.tick(t)
			show(k.posts(t))
		case input[0] != '#':
			t.Fatalf("what does %q mean?", input)
		}
	}
	return out.String(), k
}

// readable fails the test unless a record is read back as the game that it says it is.
func readable(t *testing.T, file string) {
	t.Helper()
	rec, err := sgf.Read(strings.NewReader(file))
	must(t, err)
	r, _, err := rec.Ruleset()
	must(t, err)
	g, err := rec.Play(r, rec.Setup.Komi)
	must(t, err)
	if g.Result() != "" && g.Result() != rec.Info.Result {
		t.Errorf("the record of a game that ended %s says %s", g.Result(), rec.Info.Result)
	}
}

// indented sets every line of a text in, and leaves out empty ones.
func indented(s string) string {
	return "  " + strings.ReplaceAll(strings.ReplaceAll(s, "\n\n", "\n"), "\n", "\n  ")
}

// looks tells how a picture is drawn, if not as usual.
func looks(s *render.Scene) string {
	look := strings.Join(strings.Fields(s.Look.Theme+" "+s.Look.Layout+" "+s.Look.Coordinates), ", ")
	if look == "" {
		return ""
	}
	return " (" + look + ")"
}

func showPost(block func(head, text string), p outbox.Post) {
	head := "* "
	switch {
	case p.Scene != nil:
		head = "* picture" + looks(p.Scene) + ": "
	case p.Sheet != nil:
		head = "* table: "
	case p.Kind == match.Remove:
		head = "* (message " + p.Replaces + " is taken away)"
	case p.Kind == match.Status && p.Replaces != "":
		head = "* (in place of message " + p.Replaces + ") "
	}
	if p.Private {
		head += "(privately) "
	}
	format := inChat
	format.Person = func(_, id, name string) string { // only those who are notified are mentioned
		if slices.ContainsFunc(p.Notify, func(who outbox.User) bool { return who.ID == id }) {
			return "@" + name
		}
		return name
	}
	said := bot.Fill(p.Text, format)
	for _, who := range p.Notify {
		if !strings.Contains(said, "@"+who.Name) {
			head += "@" + who.Name + " "
		}
	}
	block(head, said)
	if p.Sheet != nil {
		block("", indented(p.Sheet.Letters()))
	}
	var labels []string
	for _, c := range p.Controls {
		labels = append(labels, "["+c.Label+"]")
	}
	block("", strings.Join(labels, " "))
	block("", p.Link)
	if p.File != nil {
		block("", "file "+p.File.Name)
	}
}

// A request in the thread under a game's first message is about that game,
// and a game opened there begins a thread of its own.
func TestThreads(t *testing.T) {
	k := newTalk(t)
	under := ""
	say := func(who, text string) (outbox.Post, []outbox.Post) {
		t.Helper()
		k.now = k.now.Add(time.Minute)
		r, err := k.request(who, text)
		must(t, err)
		if r.Under = under; under != "" {
			r.Where.Thread = "thread-of-" + under
		}
		a, err := k.bot.Ask(t.Context(), r)
		must(t, err)
		return a.Own(), k.posts(t)
	}
	say("ada", "/new aga 5x5 opponent:me")
	_, posts := say("ada", "/new button 5x5 opponent:bob")
	if posts[0].Under != "" {
		t.Errorf("the first message stands under %q", posts[0].Under)
	}
	under = "3" // the receipt of the first message of game 2
	say("bob", "/join")
	a, posts := say("ada", "/place C3")
	if len(posts) != 1 || posts[0].Number != 2 || posts[0].Under != "3" || posts[0].Previous != "5" || posts[0].Where.Thread != "" {
		t.Errorf("%q, %+v", a.Text, posts)
	}
	say("bob", "/resign yes")
	if _, posts = say("bob", "/rematch"); len(posts) != 1 || posts[0].Number != 2 || posts[0].Under != "3" {
		t.Errorf("a rematch is asked for by %+v", posts)
	}
	_, posts = say("ada", "/accept")
	if len(posts) != 3 || posts[0].Number != 3 || posts[0].Under != "" || posts[0].Where.Thread != "" || posts[1].Number != 2 || posts[1].Under != "3" || posts[2].Number != 3 {
		t.Errorf("a rematch begins with %+v", posts)
	}
	under = "unknown" // a thread of people, in which a game may be opened
	if _, posts = say("ada", "/new aga 5x5 opponent:me"); posts[0].Where.Thread != "thread-of-unknown" || posts[1].Under != "" {
		t.Errorf("%+v", posts)
	}
}

// The bot's suggestion when somebody stops play is not that person's act.
func TestExportWithoutSuggestions(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new aga 5x5 opponent:me", "ada> /place C3", "ada> /place A1", "ada> /pass", "ada> /pass")
	a, posts := k.say(t, "ada", "/privacy export")
	if a.File == nil || !strings.Contains(string(a.File.Data), "turn W pass") || strings.Contains(string(a.File.Data), "suggest ") {
		t.Errorf("%+v %v", a, posts)
	}
}

// A forgotten person is nowhere in the stored data, and saw all of it before.
func TestForgotten(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "xerxes> /new aga 5x5 opponent:bob", "bob> /join", "xerxes> /place C3", "xerxes> /remind direct zone:Asia/Tehran",
		"bob> /resign yes", "xerxes> /comment A word of mine.", "bob> /comment hello")
	kept := func() string { return k.exports(t) }
	traces := []string{"xerxes", "Xerxes", "Tehran", "A word of mine"}
	record := func() string {
		a, _ := k.say(t, "bob", "/sgf 1")
		return string(a.File.Data)
	}
	if got := record(); !strings.Contains(got, "A word of mine") {
		t.Error(got)
	}
	a, _ := k.say(t, "xerxes", "/privacy export")
	for _, trace := range append(traces, "place C3") {
		if a.File == nil || !strings.Contains(string(a.File.Data), trace) {
			t.Errorf("the person is not told of %q: %v", trace, a)
		}
	}
	for _, trace := range traces {
		if !strings.Contains(kept(), trace) {
			t.Errorf("%q is not kept at all", trace)
		}
	}
	k.say(t, "xerxes", "/privacy delete yes")
	for _, trace := range traces {
		if strings.Contains(kept(), trace) {
			t.Errorf("%q is still kept", trace)
		}
	}
	if got := record(); strings.Contains(got, "A word of mine") || !strings.Contains(got, "hello") {
		t.Error(got)
	}
	if a, _ := k.say(t, "bob", "/board"); !strings.Contains(a.Text, "White resigns") {
		t.Errorf("the game is gone: %q", a.Text)
	}
}

// What the bot answers and tells is in whole sentences, or ends with a command or an
// example that a colon or a question leads up to. Captions and headings are no sentences.
func TestConversationsAreInSentences(t *testing.T) {
	said := regexp.MustCompile(`^ {4}(?:\(to [^)]*\)|\*|\* \((?:privately|in place[^)]*)\)) (.*)$`)
	ends := regexp.MustCompile(`[.?!:…。？！：]$|: https://\S+$|[.。] ?[(（][^()（）]*[)）]$|(: |[?] |[：？] ?)[^.?。？]*$`)
	other := regexp.MustCompile(`^picture|^\(|^(Game|Partie|対局) ?\d+ · |^(Rules: |Regeln: |ルール：)|\(step \d+ of \d+, `)
	files, err := filepath.Glob("testdata/*.txt")
	must(t, err)
	for _, name := range files {
		file, err := os.ReadFile(name)
		must(t, err)
		for i, line := range strings.Split(string(file), "\n") {
			if m := said.FindStringSubmatch(line); m != nil && !other.MatchString(m[1]) && !ends.MatchString(m[1]) {
				t.Errorf("%s:%d: %q", name, i+1, m[1])
			}
		}
	}
}

// own returns the post that answers a request.
func own(a bot.Answer, err error) (outbox.Post, error) { return a.Own(), err }
