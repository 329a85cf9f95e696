package bot_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/internal/audit"
)

// retell lets people say again what they say in a conversation, and calls after behind each
// line.
func (k *talk) retell(t *testing.T, name string, after func(line string)) {
	t.Helper()
	script, err := os.ReadFile("testdata/" + name + ".txt")
	must(t, err)
	for line := range strings.Lines(string(script)) {
		line = strings.TrimRight(line, "\n")
		switch who, text, said := strings.Cut(line, "> "); {
		case line == "" || line[0] == ' ' || line[0] == '#':
			continue
		case said:
			k.say(t, who, text)
		case line[0] == '+':
			d, err := time.ParseDuration(strings.TrimSpace(line[1:]))
			must(t, err)
			k.wait(t, d)
		default:
			t.Fatalf("what does %q mean?", line)
		}
		after(line)
	}
}

// At any time of a league and a Swiss their export passes the audit, and has people as ids.
func TestExportedEventPassesTheAudit(t *testing.T) {
	k := newTalk(t)
	league, exported := 0, map[audit.System]int{} // results, exports
	k.retell(t, "event", func(line string) {
		p := k.ask(t, "ada", "/event what:export")
		if p.File == nil {
			if len(exported) > 0 {
				t.Errorf("after %s: %s", line, p.Text)
			}
			return
		}
		e, err := audit.Read(bytes.NewReader(p.File.Data))
		if err != nil {
			t.Fatalf("after %s: %v", line, err)
		}
		if r := audit.Run(e); !r.Correct {
			t.Errorf("after %s the audit finds %+v\nin %s", line, r, p.File.Data)
		}
		exported[e.System]++
		results := 0
		for _, r := range e.Rounds {
			for _, pair := range r.Pairs {
				results += len(pair.Results)
			}
		}
		if e.Title == "Spring" {
			league = results
		}
		for _, name := range []string{"Ada", "Bob", "Zoe", "Mod"} {
			if strings.Contains(string(p.File.Data), name) {
				t.Errorf("after %s the export names %s", line, name)
			}
		}
	})
	// The league has eight games, and one result that was given again.
	if exported[audit.Groups] < 10 || exported[audit.Swiss] < 5 || league != 9 {
		t.Errorf("exported %v; the league has %d results", exported, league)
	}
}

// The sheets are CSV that no spreadsheet takes for formulas, whatever people are called.
func TestEventSheets(t *testing.T) {
	k := newTalk(t)
	names := map[string]string{"a": "=1+1", "b": "-2;=cmd|' /C calc'!A0", "c": `"x","@y"`, "d": "Ünï🦊, Ada"}
	k.lines(t, "mod> /settings events:anyone", "mod> /event new title:Spring size:5 group:4 ranks:yes", "mod> /event publish")
	for i, who := range []string{"a", "b", "c", "d"} {
		r, err := k.request(who, fmt.Sprintf("/event join rank:%dk", 7+i%3))
		must(t, err)
		r.Who.Name = names[who]
		_, err = k.bot.Ask(t.Context(), r)
		must(t, err)
	}
	k.lines(t, "mod> /event start confirm:yes")
	k.wait(t, time.Minute)
	k.lines(t, "mod> /event result table:1 as:draw confirm:yes")
	e, err := audit.Read(bytes.NewReader(k.ask(t, "eve", "/event what:export").File.Data))
	must(t, err)
	if r := audit.Run(e); !r.Correct || len(r.Rounds) != 1 {
		t.Errorf("groups by rank: %+v", r)
	}
	read := func(as string) (rows [][]string) {
		p := k.ask(t, "eve", "/event what:export as:"+as)
		if p.File == nil || !p.Private {
			t.Fatalf("%s: %+v", as, p)
		}
		data, bom := bytes.CutPrefix(p.File.Data, []byte("\ufeff"))
		if !bom || p.File.Type != "text/csv; charset=utf-8" || bytes.Contains(bytes.ReplaceAll(data, []byte("\r\n"), nil), []byte("\n")) {
			t.Errorf("%s: %s is %q", as, p.File.Type, p.File.Data)
		}
		rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		must(t, err)
		return rows
	}
	players := read("csv")
	if got := fmt.Sprint(players[0]); got != "[group place number name rank score sos wins draws losses byes open state]" || len(players) != 5 {
		t.Errorf("%d players, below %s", len(players)-1, got)
	}
	found := map[string]bool{}
	for _, row := range players[1:] {
		found[row[3]] = true
	}
	for _, want := range []string{"'=1+1", "'-2;'=cmd|' /C calc'!A0", `"x","'@y"`, "Ünï🦊, Ada"} {
		if !found[want] {
			t.Errorf("%q is not among the names %v", want, found)
		}
	}
	games := read("games")
	if len(games) != 7 || fmt.Sprint(games[1][8:12]) != "[0.5 0.5  typed]" || fmt.Sprint(games[2][8:12]) != "[   open]" {
		t.Errorf("the games are %q", games)
	}
	if p := k.ask(t, "eve", "/event what:export as:xml"); !p.Refused || p.File != nil {
		t.Errorf("xml: %+v", p)
	}
}

// Every system exports what the audit needs, also with other tie-breaks.
func TestExportedSystemsPassTheAudit(t *testing.T) {
	for _, terms := range []string{"system:swiss rounds:2 ties:sodos,sos", "system:mcmahon rounds:2", "system:roundrobin ties:direct", "system:knockout komi:5.5 rules:aga"} {
		k := newTalk(t)
		k.lines(t, "mod> /event new title:Cup size:5 ranks:yes "+terms, "mod> /event publish")
		for i, who := range []string{"ada", "bob", "eve", "kim"} {
			k.lines(t, fmt.Sprintf("%s> /event join rank:%dk", who, 1+4*i))
		}
		k.lines(t, "mod> /event start confirm:yes")
		k.wait(t, time.Minute)
		k.lines(t, "mod> /event result table:1 as:black confirm:yes", "mod> /event result table:2 as:white confirm:yes")
		k.wait(t, 50*time.Hour)
		p := k.ask(t, "ada", "/event what:export")
		if p.File == nil {
			t.Fatalf("%s: %s", terms, p.Text)
		}
		e, err := audit.Read(bytes.NewReader(p.File.Data))
		must(t, err)
		if r := audit.Run(e); !r.Correct || len(r.Rounds) != 2 {
			t.Errorf("%s: the audit finds %+v\nin %s", terms, r, p.File.Data)
		}
	}
}
