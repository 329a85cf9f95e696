package rules

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the transcripts as the code has them now; read them before you commit")

// A transcript is a game of a released ruleset, frozen: what is indented is
// what the program said. A line that is not indented is the game's setup or a
// turn, tried; "#" begins a comment. A transcript that changes in more
// than words means that games played before have changed: make a new version of the
// ruleset instead.
func TestTranscripts(t *testing.T) {
	for _, r := range slices.Concat(Catalogue, earlier) {
		t.Run(r.ID(), func(t *testing.T) {
			name := filepath.Join("testdata", r.ID()+".txt")
			file, err := os.ReadFile(name)
			if err != nil && *update {
				file, err = []byte(draft(r)), nil
			}
			if err != nil {
				t.Fatalf("every ruleset has a transcript, and -update begins one: %v", err)
			}
			got := transcribe(t, r, string(file))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, have := strings.Split(string(file), "\n"), strings.Split(got, "\n")
			for i := range max(len(want), len(have)) {
				if i >= len(want) || i >= len(have) || want[i] != have[i] {
					t.Fatalf("%s:%d: the transcript has\n%s\nthe program says\n%s", name, i+1, line(want, i), line(have, i))
				}
			}
		})
	}
}

// draft returns a game that only shows how the ruleset ends.
func draft(r *Ruleset) string {
	lines := []string{"# A draft. Write a game in which every rule is used.", "new 3x3 komi 0", "B place B2", "W place A1"}
	player := Black
	say := func(k Kind) {
		lines = append(lines, player.Letter()+" "+k.String())
		player = player.Opponent()
	}
	for _, k := range r.Closing {
		say(k)
	}
	if r.Has(AcceptScore) {
		say(AcceptScore)
		say(AcceptScore)
	}
	return strings.Join(lines, "\n") + "\n"
}

func line(lines []string, i int) string {
	if i >= len(lines) {
		return "(nothing more)"
	}
	return lines[i]
}

func transcribe(t *testing.T, r *Ruleset, script string) string {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, "    "+format+"\n", args...) }
	var g *Game
	for _, input := range strings.Split(strings.TrimRight(script, "\n"), "\n") {
		if strings.HasPrefix(input, " ") {
			continue
		}
		out.WriteString(input + "\n")
		words := strings.Fields(input)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if words[0] == "new" { // new 5x5 komi 6.5 [handicap A1 B1]
			s := Setup{}
			fmt.Sscanf(words[1], "%dx%d", &s.W, &s.H)
			komi, err := ParsePoints(words[3])
			if err != nil {
				t.Fatal(err)
			}
			s.Komi = komi
			if len(words) > 5 {
				s.Black = points(t, s.W, s.H, strings.Join(words[5:], " "))
				s.Handicap = len(s.Black)
			}
			if g, err = New(r, s); err != nil {
				say("%v", err)
				continue
			}
			for _, e := range g.Entries() {
				say("%v %+d %v: %s", e.Player, e.N, e.Thing, e.Why)
			}
			tell(g, say)
			continue
		}
		turn, err := ParseTurn(input, g.setup.W, g.setup.H)
		if err != nil {
			t.Fatal(err)
		}
		before := len(g.Entries())
		next, err := g.Play(turn)
		if err != nil {
			say("%v", err)
			continue
		}
		g = next
		for _, e := range g.Entries()[before:] {
			say("%d. %v %+d %v: %s", e.Move, e.Player, e.N, e.Thing, e.Why)
		}
		tell(g, say)
	}
	for _, row := range g.board.Rows() {
		say("%s", row)
	}
	return out.String()
}

// tell says how things stand: the phase, the side to move, the count now.
func tell(g *Game, say func(string, ...any)) {
	if s := g.Score(); s != nil {
		var parts []string
		for _, l := range s.Lines {
			if l.N != 0 {
				parts = append(parts, fmt.Sprintf("%s %v %d×%v", l.Player.Letter(), l.Thing, l.N, l.Each))
			}
		}
		say("%v to %v = %v (%s)", s.Black, s.White, s.Margin(), strings.Join(parts, ", "))
	}
	for _, e := range g.IfAgreed() {
		say("if agreed: %v %+d %v: %s", e.Player, e.N, e.Thing, e.Why)
	}
	for _, fact := range g.Says() {
		say("%s", fact)
	}
	if g.Phase() == Over {
		say("over: %s, %s, proof %s", g.Result(), g.Decided(), g.Proof())
	} else {
		say("%v, %v to move, proof %s", g.Phase(), g.ToPlay(), g.Proof())
	}
}

// The texts of a ruleset are frozen too: a change of a rule is free,
// but must be meant.
func TestBooks(t *testing.T) {
	for _, r := range slices.Concat(Catalogue, earlier) {
		name := filepath.Join("testdata", "books", r.ID()+".txt")
		got := r.Book() + "\nTheorem: " + r.Theorem + "\n"
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s has\n%s\nthe program recites\n%s", name, want, got)
		}
	}
}
