// Package terminal runs the bot in a terminal, for one person in both seats or for a
// script on standard input. A line may begin with the seat that makes the request:
//
//	black> /new two-button 9x9
//	black> /place E5
//	white> /place C3
//
// Otherwise it is for the seat whose turn it is. Empty lines and lines that begin with #
// are skipped. There is no chat here, so the slash may be left out, and E5 alone places a
// stone. After a refused command the next line is read; [Terminal.Refused] counts such
// commands.
package terminal

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-isatty"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Name is the platform's name.
const Name = "terminal"

// maxLine is the longest line that is read, in bytes.
const maxLine = 64 << 10

var room = match.Room{Platform: Name, Channel: "terminal"}

// A Terminal reads commands line by line and writes the answers of the bot.
type Terminal struct {
	In     io.Reader
	Out    io.Writer
	Prompt bool   // show a prompt with the player to move, for a person
	Lang   string // the language as in $LANG: "de_AT.UTF-8"; empty: English

	mu      sync.Mutex              // guards Out and what follows
	turn    string                  // the seat that is to move
	spoke   string                  // the seat that made the last request
	shown   map[string]bool         // posts, by id
	stood   map[match.GameID]string // what the last post of an event said of its state
	refused int                     // commands
}

var _ bot.Adapter = (*Terminal)(nil)

// Name returns the platform's name.
func (t *Terminal) Name() string { return Name }

// Refused returns how many lines were not carried out: refused commands, unknown
// ones, and lines that are none.
func (t *Terminal) Refused() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused
}

func (t *Terminal) refuse() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused++
}

func who(seat string) outbox.User {
	first, size := utf8.DecodeRuneInString(seat)
	return outbox.User{Platform: Name, ID: "seat:" + strings.ToLower(seat), Name: string(unicode.ToUpper(first)) + seat[size:]}
}

// Run reads lines until ctx is done, or until they end or one says quit: then it returns
// [io.EOF].
func (t *Terminal) Run(ctx context.Context, service bot.Service) error {
	if t.Prompt {
		t.say(wordWelcome)
	}
	prefix := rand.Text()
	lines, ended := make(chan string), make(chan error, 1)
	go func() {
		in := bufio.NewScanner(t.In)
		in.Buffer(nil, maxLine)
		for in.Scan() {
			select {
			case lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
		ended <- cmp.Or(in.Err(), io.EOF)
	}()
	for n := 1; ; n++ {
		t.prompt()
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return err
		case line := <-lines:
			if leaves(line) {
				return io.EOF
			}
			err := t.line(ctx, service, fmt.Sprintf("%s:%s:%d", Name, prefix, n), line)
			switch {
			case ctx.Err() != nil:
				return nil
			case err != nil:
				return err
			}
		}
	}
}

// leaves reports whether a line ends the program.
func leaves(line string) bool {
	switch strings.TrimPrefix(strings.ToLower(strings.TrimSpace(line)), "/") {
	case "quit", "exit":
		return true
	}
	return false
}

// line carries out one line.
func (t *Terminal) line(ctx context.Context, service bot.Service, id, line string) error {
	line = strings.TrimSpace(line)
	seat, named := t.seat(), false
	if before, after, ok := strings.Cut(line, ">"); ok && len(before) > 0 && len(before) < 40 && !strings.ContainsAny(before, " /!") {
		seat, line, named = before, strings.TrimSpace(after), true
	}
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	if line[0] != '/' && line[0] != '!' {
		if command, args, ok := bot.BareReading(line); ok {
			line = strings.Join([]string{command, args["what"], args["where"]}, " ")
		}
		line = cmp.Or(bot.Slashed(line), "/"+line)
	}
	if t.spoke != "" && !named && strings.HasPrefix(line, "/undo") {
		seat = t.spoke // players take back their own turns
	}
	t.mu.Lock()
	t.turn, t.spoke = seat, seat
	t.mu.Unlock()
	r := bot.Request{ID: id, Who: who(seat), Where: room, Seats: &bot.Seats{Black: who("black"), White: who("white")},
		Lang: t.Lang, RoomLang: t.Lang}
	command, args, err := bot.Parse(line)
	if err != nil {
		t.refuse()
	}
	if errors.Is(err, bot.ErrNotACommand) {
		t.say(wordNoCommand)
		return nil
	}
	if err != nil {
		t.print("(to %s alone) %v\n", seat, bot.Fill(bot.Explain(err, t.Lang), bot.Format{}))
		return nil
	}
	r.Command, r.Args = command, args
	c, _ := bot.FindCommand(command)
	for _, o := range c.Options {
		name := strings.TrimPrefix(args[o.Name], "@")
		if o.Type == bot.UserOption && name != "" && name[0] != '#' && !strings.EqualFold(name, "me") {
			if r.Users == nil {
				r.Users = map[string]outbox.User{}
			}
			r.Users[o.Name] = who(name)
		}
	}
	r.Moderator = command == "event" || command == "log" // there is nobody else who could organise an event
	r.Shows, r.Flat = true, true
	a, err := service.Ask(ctx, r)
	if err != nil {
		return err
	}
	for _, p := range a.Posts {
		if p.Refused {
			t.refuse()
		}
		receipt, owes, err := t.Deliver(ctx, p)
		if err := errors.Join(err, service.Settle(ctx, p, receipt, owes, err)); err != nil {
			return err
		}
	}
	return nil
}

// answer writes an answer, in one piece: posts are written at the same time.
func (t *Terminal) answer(a outbox.Post) {
	var out strings.Builder
	if a.Moderators {
		a.Text = bot.Translated(t.Lang, wordNoModerators)
	}
	if a.Private {
		fmt.Fprintf(&out, "(to %s alone) ", strings.TrimPrefix(a.Asker.ID, "seat:"))
	}
	switch {
	case a.Scene != nil:
		if asker, _, _ := strings.Cut(a.Text, "\n"); !a.Private {
			fmt.Fprintf(&out, "%s\n", bot.Fill(asker, bot.Format{}))
		}
		fmt.Fprintf(&out, "%s\n", render.Text(*a.Scene))
	case a.Chart != nil, a.Sheet != nil:
		picture, _ := a.Picture()
		fmt.Fprintf(&out, "%s\n", strings.Trim(bot.Fill(a.Text, bot.Format{})+"\n\n"+picture.Letters(), "\n"))
	default:
		fmt.Fprintf(&out, "%s\n", bot.Fill(a.Text, bot.Format{}))
	}
	for _, c := range bot.Unshared(a).Controls { // everybody looks at the same screen
		line := "/" + c.Command
		for _, k := range slices.Sorted(maps.Keys(c.Args)) {
			if k != "seq" {
				line += " " + k + ":" + c.Args[k]
			}
		}
		if c.Ask != "" {
			line += " " + c.Ask + ":…"
		}
		fmt.Fprintf(&out, "  [%s] %s\n", c.Label, line)
	}
	if a.File != nil {
		fmt.Fprintf(&out, "%s\n", a.File.Data)
	}
	t.print("%s", &out)
}

// Deliver writes a post.
func (t *Terminal) Deliver(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	if p.Kind == match.Answer {
		t.answer(p)
		return "", nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shown[p.ID] || p.Kind == match.Remove { // a terminal cannot remove text
		return outbox.Receipt(p.ID), nil, nil
	}
	if p.Kind == match.Show || p.Instead {
		for _, w := range p.Notify {
			t.turn = strings.TrimPrefix(w.ID, "seat:")
		}
	}
	text := bot.Fill(p.Text, bot.Format{})
	if p.Kind == match.Sheet && !t.stands(p.Game, text) {
		return outbox.Receipt(p.ID), nil, nil
	}
	if p.Scene != nil {
		text += "\n" + strings.Join(grid(*p.Scene), "\n")
	}
	if p.Sheet != nil {
		text += "\n\n" + p.Sheet.Letters()
	}
	if _, err := fmt.Fprintf(t.Out, "%s\n\n", text); err != nil {
		return "", nil, err
	}
	if t.shown == nil {
		t.shown = map[string]bool{}
	}
	t.shown[p.ID] = true
	return outbox.Receipt(p.ID), nil, nil
}

// stands reports whether the first line of the post of an event, which says its state, is
// another than before. A terminal cannot change what it has printed, and nobody wants to read
// the whole event again each time somebody joins. The caller holds t.mu.
func (t *Terminal) stands(event match.GameID, text string) bool {
	state, _, _ := strings.Cut(text, "\n")
	if t.stood == nil {
		t.stood = map[match.GameID]string{}
	}
	changed := t.stood[event] != state
	t.stood[event] = state
	return changed
}

// grid draws the board with its coordinates, brackets around the last stone
// and small letters for stones marked as dead.
func grid(s render.Scene) []string {
	h := len(s.Board)
	rows := make([][]byte, h)
	for i := range rows {
		rows[i] = []byte(s.Board[i])
	}
	for _, d := range s.Dead {
		rows[h-1-int(d.At.Y)][d.At.X] = ".xo."[d.Color]
	}
	columns := "   "
	for x := range len(s.Board[0]) {
		columns += " " + rules.Point{X: int8(x)}.String()[:1]
	}
	out := []string{columns}
	for i, row := range rows {
		line := fmt.Sprintf("%3d", h-i)
		for x, c := range row {
			before := " "
			if s.Last != nil && int(s.Last.Y) == h-1-i {
				if int(s.Last.X) == x {
					before = "("
				} else if int(s.Last.X) == x-1 {
					before = ")"
				}
			}
			line += before + string(c)
		}
		if s.Last != nil && int(s.Last.Y) == h-1-i && int(s.Last.X) == len(row)-1 {
			line += ")"
		}
		out = append(out, line)
	}
	return out
}

func (t *Terminal) seat() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.turn == "" {
		return "black"
	}
	return t.turn
}

func (t *Terminal) prompt() {
	if t.Prompt {
		t.print("%s> ", t.seat())
	}
}

// say writes one of the terminal's own texts.
func (t *Terminal) say(english string) {
	t.print("%s\n", bot.Fill(bot.Translated(t.Lang, english), bot.Format{}))
}

func (t *Terminal) print(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.Out, format, args...)
}

// Interactive reports whether f is a terminal.
func Interactive(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }
