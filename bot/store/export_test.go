package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func export(t testing.TB, s *store.Store) string {
	t.Helper()
	var b bytes.Buffer
	must(t, s.Export(context.WithoutCancel(t.Context()), &b))
	return b.String()
}

// reimported returns a store with what an export of s holds, and checks that this
// exports the same.
func reimported(t *testing.T, s *store.Store) *store.Store {
	t.Helper()
	again, first := open(t, store.Memory), export(t, s)
	must(t, again.Import(context.WithoutCancel(t.Context()), iotest.HalfReader(strings.NewReader(first))))
	if diff := cmp.Diff(strings.Split(first, "\n"), strings.Split(export(t, again), "\n")); diff != "" {
		t.Errorf("(-export +export of its import):\n%.5000s", diff)
	}
	return again
}

// imported returns a store in memory with what smallExport holds.
func imported(t *testing.T, name string) *store.Store {
	t.Helper()
	s := open(t, name)
	must(t, s.Import(t.Context(), strings.NewReader(smallExport)))
	return s
}

func TestStrangeTextsAreExported(t *testing.T) {
	s := open(t, store.Memory)
	must(t, s.SetBookmark(t.Context(), "a", "not \xff UTF-8 <&> \u2028\u202e\x00\x01\"\\\n"))
	got, err := reimported(t, s).Bookmark(t.Context(), "a")
	if want := "not \ufffd UTF-8 <&> \u2028\u202e\x00\x01\"\\\n"; got != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// The forms of exports that have been made stay readable.
const smallExport = `{"halfpoint":"export","version":12}
{"person":{"id":"pa","platform":"web","platform_id":"name:ada","name":"Ada <½>"}}
{"preference":{"person":"pa","body":"{\"remind\":\"none\"}"}}
{"game":{"id":"g","rules":"two-button@1","setup":"{\"w\":9,\"h\":9,\"komi\":13}","opener":"pa","invited":"","opened":1700000000000,"state":"going","black":"pa","white":"pa","to_move":"pa","seq":1,"result":"","changed":1700000001000,"clock":"3d weekends","deadline":1700000009000,"rated":1,"page":"p","contest":"e-1","round":2,"tbl":3,"head":"head"}}
{"game_channel":{"game":"g","platform":"web","channel":"c","thread":"","number":1,"state":"going"}}
{"event":{"game":"g","seq":1,"at":1700000001000,"actor":"pa","body":"turn B place D4","proof":"0123456789abcdef"}}
{"due":{"game":"g","kind":"flag","at":1700000009000,"seq":1}}
{"inbox":{"request":"web:1","at":1700000001000,"answer":"{}","platform":"web","channel":"c"}}
{"post":{"id":"o1","game":"g","platform":"web","channel":"c","thread":"","n":1,"kind":"show","seq":1,"private":0,"body":"{}","state":"waiting","due":0,"attempt":2,"receipt":"","why":"","tried":1,"person":"pa"}}
{"room_wait":{"platform":"web","channel":"d","due":1700000009000}}
{"room_parked":{"platform":"web","channel":"d","thread":"","why":"gone"}}
{"room_setting":{"platform":"web","channel":"c","body":"{\"size\":\"13x13\"}"}}
{"server":{"platform":"web","server":"s","body":"{\"opens\":\"nobody\"}","gone":1700000002000}}
{"server_channel":{"platform":"web","channel":"c","server":"s"}}
{"holder":{"platform":"web","platform_id":"name:ada","looks":"ada","secret":"cafe","since":7}}
{"bookmark":{"adapter":"matrix","value":"s1"}}
{"message":{"n":7,"key":"k","room":"c","at":1700000000000,"sender":"Ada","body":"hello","game":"","seq":0,"kind":"","removed":0,"extra":"{\"to\":[\"Ada\"]}","person":"pa"}}
{"decoration":{"platform":"web","kind":"header","key":"m1","n":7,"channel":"c","thread":"","game":"g","seq":1,"follows":"show","target":"m1","data":"d","not_before":0,"not_after":1700000009000,"sleeps":1,"attempt":2}}
{"outage":{"platform":"web","server":"s","started":1700000002000,"ended":0}}
{"link":{"secret":"beef","person":"pa","platform":"web","channel":"c","name":"Firefox","at":1700000003000}}
{"record":{"slug":"r","platform":"","channel":"","person":"","browser":"beef","name":"a.sgf","shared":1,"visited":1700000003000,"size":12,"body":"03MAAA=="}}
{"contest":{"id":"e-1","page":"q","platform":"web","channel":"c","thread":"","number":1,"title":"Autumn","state":"signup","seq":1,"opened":1700000003000,"changed":1700000003000}}
{"contest_event":{"contest":"e-1","seq":1,"at":1700000003000,"actor":"pa","person":"","body":"{\"kind\":\"open\"}"}}
{"contest_person":{"person":"pa","contest":"e-1"}}
{"act":{"n":8,"platform":"web","channel":"c","server":"","at":1700000003000,"person":"pa","what":"{\"k\":\"act.delete\",\"a\":[\"3\"]}"}}
{"draft":{"person":"pa","platform":"web","channel":"c","at":1700000003000,"text":"{}"}}
{"end":{"person":1,"preference":1,"game":1,"game_channel":1,"event":1,"due":1,"inbox":1,"post":1,"room_wait":1,"room_parked":1,"room_setting":1,"server":1,"server_channel":1,"holder":1,"bookmark":1,"message":1,"decoration":1,"outage":1,"link":1,"record":1,"contest":1,"contest_event":1,"contest_person":1,"act":1,"draft":1}}
`

// lacked is what exports had less the older they were: tables, and columns as they
// stand in smallExport, as they stood then, and as they are after an import.
var lacked = []struct {
	version int
	tables  []string
	columns [][3]string
}{
	{11, []string{"act"}, nil},
	{10, nil, [][3]string{{`,"head":"head"`, ``, `,"head":""`}}},
	{9, []string{"link", "record", "contest", "contest_event", "contest_person", "draft"},
		[][3]string{{`,"contest":"e-1","round":2,"tbl":3`, ``, `,"contest":"","round":0,"tbl":0`}}},
	{8, nil, [][3]string{{`,"page":"p"`, ``, `,"page":""`}}},
	{7, nil, [][3]string{{`"tried":1,"person":"pa"`, `"tried":1`, `"tried":1,"person":""`}, {`,"person":"pa"}}`, `}}`, `,"person":""}}`}}},
	{6, nil, [][3]string{{`"why":"","tried":1`, `"why":"clean"`, `"why":"","tried":1`}}},
	{5, []string{"outage"}, nil},
	{4, []string{"decoration"}, nil},
	{3, []string{"holder"}, nil},
	{2, []string{"server", "server_channel"}, [][3]string{{`"{}","platform":"web","channel":"c"`, `"{}"`, `"{}","platform":"","channel":""`}}},
	{1, []string{"room_setting"}, [][3]string{{`,"rated":1`, ``, `,"rated":0`}, {`,"extra":"{\"to\":[\"Ada\"]}"`, ``, `,"extra":""`}}},
}

// olderExport returns smallExport as an older version wrote it, and what is exported
// after its import.
func olderExport(version int) (older, read string) {
	older, read = strings.Replace(smallExport, `"version":12`, fmt.Sprintf(`"version":%d`, version), 1), smallExport
	for _, l := range lacked {
		if l.version < version {
			break
		}
		for _, table := range l.tables {
			line, count := regexp.MustCompile(`(?m)^{"`+table+`":.*\n`), fmt.Sprintf(`,"%s":1`, table)
			older = strings.Replace(line.ReplaceAllString(older, ""), count, "", 1)
			read = strings.Replace(line.ReplaceAllString(read, ""), count, fmt.Sprintf(`,"%s":0`, table), 1)
		}
		for _, c := range l.columns {
			older, read = strings.Replace(older, c[0], c[1], 1), strings.Replace(read, c[0], c[2], 1)
		}
	}
	if version <= 3 { // nobody held the names that were used
		read = strings.NewReplacer(`"holder":0`, `"holder":1`, `{"bookmark":`,
			`{"holder":{"platform":"web","platform_id":"name:ada","looks":"","secret":"","since":0}}`+"\n"+`{"bookmark":`).Replace(read)
	}
	return older, read
}

func TestExportForm(t *testing.T) {
	s := imported(t, store.Memory)
	if diff := cmp.Diff(smallExport, export(t, s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	m, events, err := s.Match(t.Context(), "g")
	must(t, err)
	if m.Clock.String() != "3d weekends" || !m.Rated || len(events) != 1 {
		t.Errorf("match is %v with events %v", m, events)
	}
	must(t, s.Commit(t.Context(), turn(&m))) // it goes on
	next, err := s.Append(t.Context(), outbox.Message{Room: "c"})
	if err != nil || next.N != 8 {
		t.Errorf("the next message gets the number %d, %v", next.N, err)
	}
}

func TestOlderExportsAreRead(t *testing.T) {
	for version := 1; version <= 11; version++ {
		older, want := olderExport(version)
		s := open(t, store.Memory)
		must(t, s.Import(t.Context(), strings.NewReader(older)))
		if diff := cmp.Diff(want, export(t, s)); diff != "" {
			t.Errorf("version %d (-want +got):\n%s", version, diff)
		}
	}
	// Up to the fifth outages were in bookmarks.
	fifth, want := olderExport(5)
	fifth = strings.NewReplacer(`"bookmark":1`, `"bookmark":4`, `{"bookmark":`,
		`{"bookmark":{"adapter":"bot:away:chat","value":"1700000003000"}}
{"bookmark":{"adapter":"bot:away:mail","value":""}}
{"bookmark":{"adapter":"bot:outages","value":"[{\"from\":1700000001000,\"to\":1700000002000},{\"from\":900,\"to\":1000}]"}}
{"bookmark":`).Replace(fifth)
	want = strings.NewReplacer(`"outage":0`, `"outage":3`, `{"end":`, `{"outage":{"platform":"","server":"","started":900,"ended":1000}}
{"outage":{"platform":"","server":"","started":1700000001000,"ended":1700000002000}}
{"outage":{"platform":"chat","server":"","started":1700000003000,"ended":0}}
{"end":`).Replace(want)
	s := open(t, store.Memory)
	must(t, s.Import(t.Context(), strings.NewReader(fifth)))
	if diff := cmp.Diff(want, export(t, s)); diff != "" {
		t.Errorf("outages (-want +got):\n%s", diff)
	}
	// Up to the sixth a game that was deleted while it was open kept that state.
	sixth, want := olderExport(6)
	sixth, want = strings.ReplaceAll(sixth, `"state":"going"`, `"state":"open"`), strings.ReplaceAll(want, `"state":"going"`, `"state":"deleted"`)
	s = open(t, store.Memory)
	must(t, s.Import(t.Context(), strings.NewReader(strings.Replace(sixth, "turn B place D4", "delete", 1))))
	if diff := cmp.Diff(strings.Replace(want, "turn B place D4", "delete", 1), export(t, s)); diff != "" {
		t.Errorf("a deleted game (-want +got):\n%s", diff)
	}
	// Each is held to what its version had.
	firstExport, _ := olderExport(1)
	for want, text := range map[string]string{
		`line 4: game has no "rated"`:                  strings.Replace(firstExport, `"deadline":1700000009000}`, `"deadline":1700000009000,"rated":0}`, 1),
		`line 12: there is no table "room_setting"`:    strings.Replace(firstExport, `{"bookmark":{`, `{"room_setting":{`, 1),
		`line 14: it counts tables that are not there`: strings.Replace(firstExport, `"bookmark":1,`, `"bookmark":1,"room_setting":0,`, 1),
		`line 4: game lacks deadline`:                  strings.Replace(firstExport, `,"deadline":1700000009000}`, `}`, 1),
	} {
		if err := refuses(t, open(t, store.Memory), strings.NewReader(text)); err.Error() != want {
			t.Errorf("error is %q, want %q", err, want)
		}
	}
}

// refuses tries an import that should leave the store as it was, and gives its
// error.
func refuses(t *testing.T, s *store.Store, r io.Reader) error {
	t.Helper()
	before := export(t, s)
	err := s.Import(t.Context(), r)
	if err == nil {
		t.Fatal("it was imported")
	}
	if diff := cmp.Diff(before, export(t, s)); diff != "" {
		t.Errorf("%v, and yet the store has changed (-before +after):\n%s", err, diff)
	}
	return err
}

func TestImportRefuses(t *testing.T) {
	swap := func(old, new string) string {
		if strings.Count(smallExport, old) != 1 {
			t.Fatalf("%q is there %d times", old, strings.Count(smallExport, old))
		}
		return strings.Replace(smallExport, old, new, 1)
	}
	lines := strings.SplitAfter(smallExport, "\n")
	s := open(t, store.Memory)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "line 1: this is not an export of halfpoint"},
		{"a text", "Dear diary,\n", "line 1: this is not an export of halfpoint"},
		{"a record", "(;FF[4]SZ[3])", "line 1: this is not an export of halfpoint"},
		{"other lines", `{"table":"export","version":1}`, "line 1: this is not an export of halfpoint"},
		{"no version", `{"halfpoint":"export"}`, "line 1: this is not an export of halfpoint"},
		{"a newer version", swap(`"version":12`, `"version":13,"more":true`), "line 1: written by a newer halfpoint: version 13, this program reads 12"},
		{"a table that is not", swap(`{"bookmark":{`, `{"diary":{`), `line 16: there is no table "diary"`},
		{"a table of the database's own", swap(`{"bookmark":{`, `{"halfpoint_version":{`), `line 16: there is no table "halfpoint_version"`},
		{"a long name", swap(`{"bookmark":{`, `{"`+strings.Repeat("x", 5000)+`":{`), `line 16: there is no table "` + strings.Repeat("x", 40) + `"`},
		{"a column that is not", swap(`"value":"s1"`, `"value":"s1","weather":"fair"`), `line 16: bookmark has no "weather"`},
		{"a column in capitals", swap(`"value":"s1"`, `"Value":"s1"`), `line 16: bookmark lacks value`},
		{"a missing column", swap(`,"rated":1,`, `,`), "line 4: game lacks rated"},
		{"a number for a text", swap(`"s1"`, `1`), "line 16: value of bookmark: must be a text"},
		{"nothing for a text", swap(`"s1"`, `null`), "line 16: value of bookmark: must be a text"},
		{"a text for a number", swap(`{"n":7`, `{"n":"7"`), "line 17: n of message: must be a whole number"},
		{"a fraction", swap(`{"n":7`, `{"n":7.0`), "line 17: n of message: must be a whole number"},
		{"too large a number", swap(`{"n":7`, `{"n":9223372036854775808`), "line 17: n of message: must be a whole number"},
		{"a list", swap(`{"adapter":"matrix","value":"s1"}`, `["matrix","s1"]`), "line 16: bookmark must be an object"},
		{"a list of rows", swap(lines[15], "["+strings.TrimSpace(lines[15])+"]\n"), "line 16: it should be one row"},
		{"a count that is none", swap(`"bookmark":1,`, `"bookmark":"1",`), "line 27: the counts must be whole numbers"},
		{"no row", swap(`{"bookmark":{"adapter":"matrix","value":"s1"}}`, `null`), "line 16: it should be one row"},
		{"an empty line", swap(lines[15], "\n"), "line 16: it is not JSON: unexpected end of JSON input"},
		{"two rows in a line", swap("}}\n{\"bookmark\"", "},\"bookmark\""), "line 15: it should be one row"},
		{"a row twice", swap(lines[15], lines[15]+lines[15]), "line 17: this bookmark was there before"},
		{"an event of no match", swap(`{"event":{"game":"g"`, `{"event":{"game":"h"`), "line 6: what this event refers to is not there"},
		{"an event before its match", swap(lines[3]+lines[4]+lines[5], lines[5]+lines[3]+lines[4]), "line 4: what this event refers to is not there"},
		{"a row too few", swap(lines[15], ""), "line 26: it counts 1 rows of bookmark, and there are 0"},
		{"a row too many", swap(lines[15], lines[15]+`{"bookmark":{"adapter":"web","value":""}}`+"\n"), "line 28: it counts 1 rows of bookmark, and there are 2"},
		{"a count too few", swap(`"bookmark":1,`, ``), "line 27: it counts 0 rows of bookmark, and there are 1"},
		{"a count too many", swap(`"bookmark":1,`, `"bookmark":1,"diary":0,`), "line 27: it counts tables that are not there"},
		{"no counts", swap(lines[26], `{"end":null}`), "line 27: it counts 0 rows of person, and there are 1"},
		{"more after the end", smallExport + lines[15], "line 28: something follows the end"},
		{"two exports", smallExport + smallExport, "line 28: something follows the end"},
		{"an endless line", swap(`"s1"`, `"`+strings.Repeat("x", 17<<20)+`"`), "line 16: it is longer than 16777216 bytes"},
	} {
		err := refuses(t, s, strings.NewReader(c.text))
		if bad := (*store.BadExport)(nil); !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.want) || len(err.Error()) > 200 {
			t.Errorf("%s: error is %.300q, want %q", c.name, err, c.want)
		}
	}

	// However early it ends.
	cuts := []int{}
	for n := 0; n < len(smallExport)-1; n += 29 { // without its last \n it is whole
		cuts = append(cuts, n)
	}
	for n := range lines[1:] {
		whole := len(strings.Join(lines[:n], ""))
		cuts = append(cuts, whole, whole+1)
	}
	for _, n := range cuts {
		err := refuses(t, s, strings.NewReader(smallExport[:n]))
		if bad := (*store.BadExport)(nil); !errors.As(err, &bad) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
	err := refuses(t, s, io.MultiReader(strings.NewReader(smallExport[:500]), iotest.ErrReader(errBroken)))
	if bad := (*store.BadExport)(nil); !errors.Is(err, errBroken) || errors.As(err, &bad) {
		t.Errorf("a disk that cannot be read: %v", err)
	}

	must(t, s.Import(t.Context(), strings.NewReader(smallExport)))
	if err := refuses(t, s, strings.NewReader(smallExport)); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("a store that is not empty: %v", err)
	}
	almost := open(t, store.Memory)
	must(t, almost.SetBookmark(t.Context(), "web", ""))
	if err := refuses(t, almost, strings.NewReader(smallExport)); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("a store with a bookmark: %v", err)
	}
}

var errBroken = errors.New("the disk is errBroken")

func TestImportGivenUp(t *testing.T) {
	s := open(t, store.Memory)
	ctx, cancel := context.WithCancel(t.Context())
	r := readerFunc(func(p []byte) (int, error) {
		cancel()
		return copy(p, "{\"halfpoint\":\"export\",\"version\":1}\n"), nil
	})
	if err := s.Import(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// The longest line that is written is read, and a longer one is not written.
func TestLongestLine(t *testing.T) {
	s, again := open(t, store.Memory), open(t, store.Memory)
	around := len(`{"bookmark":{"adapter":"a","value":""}}` + "\n")
	must(t, s.SetBookmark(t.Context(), "a", strings.Repeat("x", 16<<20-around)))
	must(t, again.Import(t.Context(), strings.NewReader(export(t, s))))
	must(t, s.SetBookmark(t.Context(), "a", strings.Repeat("x", 16<<20-around+1)))
	if err := s.Export(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "bookmark: a row is longer") {
		t.Errorf("a longer line: error is %v", err)
	}
}

func TestExportThatCannotBeWritten(t *testing.T) {
	s := imported(t, newFile(t))
	w := writerFunc(func([]byte) (int, error) { return 0, errBroken })
	if err := s.Export(t.Context(), w); !errors.Is(err, errBroken) {
		t.Errorf("error is %v", err)
	}
	must(t, s.SetBookmark(t.Context(), "a", "later"))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A duel is two matches in a store, in which turns are made in turn.
type duel struct {
	*testing.T
	store *store.Store
	steps [2]*match.Step // the last of each
	turns int
}

func newDuel(t *testing.T, s *store.Store) *duel {
	d := &duel{T: t, store: s, steps: [2]*match.Step{opening("g0", "room"), opening("g1", "room")}}
	for _, step := range d.steps {
		must(t, s.Commit(t.Context(), step))
	}
	return d
}

// play makes the next turn.
func (d *duel) play() {
	d.Helper()
	step := turn(d.steps[d.turns%2].Match)
	step.Due = []match.Due{{Game: step.Match.ID, Kind: "flag", At: step.At.Add(time.Hour), Seq: step.Match.Seq}}
	must(d, d.store.Commit(d.Context(), step))
	d.steps[d.turns%2] = step
	d.turns++
}

// consistent checks that a copy of the store has the first turns, so many at least and
// so many at most, and of each turn all or nothing.
func (d *duel) consistent(s *store.Store, least, most int) {
	d.Helper()
	due, err := s.DueBy(d.Context(), noon.AddDate(1, 0, 0), 9)
	must(d, err)
	turns, seqs := 0, map[match.GameID]int{}
	for _, id := range []match.GameID{"g0", "g1"} {
		m, events, err := s.Match(d.Context(), id)
		must(d, err)
		seqs[id] = m.Seq
		turns += m.Seq
		for seq := range m.Seq + 2 {
			_, ok, err := s.Answered(d.Context(), fmt.Sprintf("turn:%s:%d", id, seq))
			must(d, err)
			if want := 1 <= seq && seq <= m.Seq; ok != want {
				d.Errorf("match %s has %d events; request of event %d answered: %v", id, len(events), seq, ok)
			}
		}
		i := slices.IndexFunc(due, func(d match.Due) bool { return d.Game == id })
		if (i < 0) != (m.Seq == 0) || i >= 0 && due[i].Seq != m.Seq {
			d.Errorf("match %s has %d events; due is %v", id, m.Seq, due)
		}
	}
	if turns < least || turns > most || seqs["g1"] != turns/2 {
		d.Errorf("there are %d turns, should be %d to %d: %v", turns, least, most, seqs)
	}
}

// An export is of one moment, whatever is stored between its lines.
func TestExportIsOfOneMoment(t *testing.T) {
	d := newDuel(t, open(t, newFile(t)))
	for range 50 {
		d.play()
	}
	before := d.turns
	var b bytes.Buffer
	must(t, d.store.Export(t.Context(), writerFunc(func(p []byte) (int, error) {
		d.play()
		return b.Write(p)
	})))
	if d.turns < before+5 {
		t.Errorf("only %d turns meanwhile", d.turns-before)
	}
	copied := open(t, store.Memory)
	must(t, copied.Import(t.Context(), &b))
	d.consistent(copied, before, before)
}
