package match

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/rules"
)

var update = flag.Bool("update", false, "write the decisions as they are now; read them before you commit")

const decisions = "testdata/decisions.txt"

// Each request in the file has its decision below it: the events that it adds, or the
// keys of the refusal, and who is told. The head of the file explains the rest.
func TestDecisions(t *testing.T) {
	file, err := os.ReadFile(decisions)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	k := &table{t: t}
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "\t|") {
			continue // what the last request led to
		}
		out.WriteString(line)
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") {
			continue
		}
		for _, told := range k.read(line) {
			fmt.Fprintf(&out, "\t%s\n", told)
		}
	}
	if *update {
		if err := os.WriteFile(decisions, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, got := strings.Split(string(file), "\n"), strings.Split(out.String(), "\n")
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Fatalf("%s:%d:\n%s\ndecided:\n%s", decisions, i+1, strings.Join(want[i:min(i+4, len(want))], "\n"), strings.Join(got[i:min(i+4, len(got))], "\n"))
		}
	}
	if len(want) != len(got) {
		t.Errorf("%s has %d lines, want %d", decisions, len(want), len(got))
	}
}

// read carries out a line of the file, and returns what comes of it.
func (k *table) read(line string) []string {
	who, what, _ := strings.Cut(line, " ")
	switch who {
	case "game": // game aga 5x5 clock:1d free:2 alone no-hints claim
		words := strings.Fields(what)
		w, h, _ := ParseSize(words[1])
		*k = *sit(k.t, ruleset(k.t, words[0]).ID(), 5)
		k.match.Setup, k.match.Seq, k.pos = rules.Setup{W: w, H: h}, 0, nil
		for _, word := range words[2:] {
			switch name, value, _ := strings.Cut(word, ":"); name {
			case "alone":
				k.match.White = "ada"
			case "no-hints":
				k.match.NoHints = true
			case "clock":
				k.match.Clock = control(strings.ReplaceAll(value, "_", " "))
			case "free":
				k.match.Setup.Handicap, _ = strconv.Atoi(value)
			}
		}
		k.log("join B ada", "join W "+string(k.match.White), "begin")
	case "none": // no game, in a room with these settings
		*k = table{t: k.t, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), room: k.room}
	case "room":
		k.room = RoomSettings{}
		for word := range strings.FieldsSeq(what) {
			switch name, value, _ := strings.Cut(word, ":"); name {
			case "undo":
				k.room.Undo, _ = strconv.Atoi(value)
			case "since": // now
				k.room.Since = k.now
			default:
				reflect.ValueOf(&k.room).Elem().FieldByName(strings.ToUpper(name[:1]) + name[1:]).SetString(value)
			}
		}
	case "remind": // remind bob direct
		person, how, _ := strings.Cut(what, " ")
		k.prefs = map[PersonID]Preferences{PersonID(person): {Remind: how}}
	case "plays":
		k.log(strings.Split(what, ", ")...)
	case "wait":
		d, err := time.ParseDuration(what)
		if err != nil {
			k.t.Fatal(err)
		}
		k.now = k.now.Add(d)
	case "due":
		return k.due()
	case "credit": // so much time until now
		d, err := time.ParseDuration(what)
		if err != nil {
			k.t.Fatal(err)
		}
		return k.tell(Credit(k.input("", ""), k.now.Add(-d), k.now))
	case "restored":
		return k.tell(WentBack(k.input("", ""), k.now.Add(-time.Hour), k.pos.Events[len(k.pos.Events)-1].At))
	case "moved":
		return k.tell(ShowAgain(k.input("", ""), "elsewhere"))
	case "forgets":
		return k.tell(Leave(k.input("", ""), PersonID(what)))
	case "board":
		board := k.pos.Game.Board()
		return board.Rows()
	default:
		in := k.input(PersonID(strings.TrimSuffix(who, "!")), what)
		in.Request.Moderator = strings.HasSuffix(who, "!")
		if name := in.Request.Args["opponent"]; name != "" && name != "me" && name != "nobody" {
			in.Users = map[string]PersonID{"opponent": PersonID(name)}
		}
		if drawing := in.Request.Args["diagram"]; drawing != "" {
			in.Request.Args["diagram"] = strings.ReplaceAll(drawing, "/", "\n")
		}
		return k.tell(Decide(in))
	}
	return nil
}

// due carries out the timed actions that are due by now.
func (k *table) due() (told []string) {
	for _, d := range k.dues {
		if !d.At.After(k.now) {
			told = append(told, d.Kind+":")
			told = append(told, k.tell(DecideDue(k.input("", ""), d))...)
		}
	}
	return told
}

// tell takes a step, and says what it is.
func (k *table) tell(s Step) (told []string) {
	was := k.match.State
	k.take(s)
	if s.Match != nil {
		k.dues = s.Due
	}
	if s.New {
		k.match.Number = 1
	}
	keys := func(s Step) string {
		var out []string
		for _, m := range s.Answer.Texts {
			out = append(out, m.Key)
		}
		for _, c := range s.Answer.Controls {
			out = append(out, fmt.Sprintf("[%s %v]", c.Label, c.Args))
		}
		return strings.Join(out, " ")
	}
	if s.Answer.Refused {
		told = append(told, strings.TrimSpace("refused: "+keys(s)))
	}
	if s.New {
		told = append(told, strings.TrimSpace(fmt.Sprintf("new %s %dx%d %s", s.Match.Rules, s.Match.Setup.W, s.Match.Setup.H, s.Match.Clock.String())))
	}
	for _, e := range s.Events {
		told = append(told, strings.TrimSpace(fmt.Sprintf("%s: %s", e.By, e.Body)))
	}
	for _, o := range s.Posts {
		line := o.Kind
		for _, m := range o.Texts {
			line += " " + m.Key
		}
		if o.Private {
			line += " (private)"
		}
		if o.Again {
			line += " (again)"
		}
		for _, p := range o.Notify {
			line += " @" + string(p)
		}
		told = append(told, line)
	}
	for _, id := range s.Replaces {
		told = append(told, "replaces "+string(id))
	}
	if m := s.Match; m != nil && m.State != was {
		told = append(told, strings.TrimSpace(string(m.State)+" "+m.Result))
	}
	if told == nil {
		told = []string{"nothing"}
	}
	return told
}
