package sgf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Read reads the main line of the first game in r, of no more than MaxSize bytes.
//
// The text is decoded first: by its byte order mark, as UTF-8, as CA says, or as what it
// looks like, of Shift_JIS, EUC-JP, GB18030, Big5, EUC-KR, Windows-1251, KOI8-R and
// Windows-1252.
//
// Read forgives without a word: a byte order mark, any line breaks, small letters in the names of
// properties, a missing GM (one that is neither 1 nor Go is an error), FF, CA, SZ (19), KM (0) and RU, information
// and setup in any node before the first turn, a pass as [] or [tt]. HA[1] is no handicap. Handicap stones that the
// record plays instead of setting them up, as Black's turns in a row, are setup.
//
// All else that it has to guess or passes over is in [Record.Repairs]: text outside of values, unknown
// properties, the encoding, the headers of Sina, komi in words or the units of a server, handicap stones that
// are not those of HA, or that are nowhere, stones that cannot be where they are set up, or
// are set up after moves, turns that are spelled out, two turns in one node, an end before the
// brackets close. Where it cannot read a turn, or the position before
// it lacks a stone, it stops; see [Record.Stopped].
//
// The first turn decides who moves first, before it PL.
//
// Its errors are single lines that say what is wrong; no turn has been judged
// by any rules yet.
func Read(r io.Reader) (*Record, error) {
	data, err := readLimited(r)
	if err != nil {
		return nil, err
	}
	text, from, assumed := decode(data)
	rd := reader{}
	if assumed.Text != "" {
		rd.repair(0, assumed)
	}
	if from != nil && len(data) <= maxGuarded && swallowed.Match(text) {
		if whole := decoded(nil, guarded(data, from), from); !swallowed.Match(whole) {
			text = whole
			rd.repair(0, says("some characters of the record are cut in two"))
		}
	}
	line, repairs, after, err := parse(text)
	if errors.Is(err, ErrNoRecord) {
		return nil, foreignFormat(text)
	}
	if err != nil {
		return nil, err
	}
	rd.line = line
	for _, n := range line {
		for _, v := range n {
			if len(v.name) > 1 {
				rd.about = append(rd.about, v)
			}
		}
	}
	rd.rec.Repairs = append(rd.rec.Repairs, repairs...)
	if err := rd.read(); err != nil {
		return nil, err
	}
	rd.rec.Repairs = folded(rd.rec.Repairs)
	rd.rec.More = begin(after) >= 0
	return &rd.rec, nil
}

// swallowed matches a property within a value: a character that was cut in two may have taken the bracket
// before it.
var swallowed = regexp.MustCompile(`\[(?:[^\]\\]|\\.)*[A-Z]{1,2}\[`)

// formats are how files of other formats begin.
var formats = []struct{ begins, name string }{
	{`\HS`, "GIB"}, {`\[GAME`, "GIB"}, {"[Header]", "UGF"}, {"<?xml", "XML"}, {"<Go>", "XML"}, {"Rating game", "NGF"}, {"#!Quarry", "Quarry"},
}

// foreignFormat returns the error for a text without a record.
func foreignFormat(text []byte) error {
	for _, f := range formats {
		if bytes.HasPrefix(bytes.TrimLeft(text, space), []byte(f.begins)) {
			return says("it is a file in the format {0}, and only SGF is read", f.name)
		}
	}
	return ErrNoRecord
}

// A reader makes a record of the nodes of a main line.
type reader struct {
	line     []node
	about    []value     // of all nodes, but for moves
	board    rules.Board // with the setup
	ended    bool        // the last node has been read
	left     int         // nodes of line from the one that is read to the last one with a turn or a stone
	next     rules.Color // who moves after stones were set up in the middle of the game
	negative bool        // KM is, and in points
	lacks    error       // why a stone of the position before the first turn cannot be put on the board
	rec      Record
}

// move returns the number of the last turn in the record.
func (rd *reader) move() int { return rd.rec.before + len(rd.rec.Turns) }

// repair notes what was guessed, of a move of the record or, with 0, of all of it.
func (rd *reader) repair(move int, what rules.Saying) {
	if len(rd.rec.Repairs) == maxRepairs {
		return // there is nothing more to learn of such a record
	}
	rd.rec.Repairs = append(rd.rec.Repairs, Repair{move, what})
}

func (rd *reader) read() error {
	if err := rd.game(); err != nil {
		return err
	}
	rd.rec.ours = strings.HasPrefix(rd.info("AP"), "Halfpoint")
	rd.siteHeaders()
	rd.contradictions()
	if err := rd.size(); err != nil {
		return err
	}
	s := &rd.rec.Setup
	rd.rec.RU = rd.info("RU")
	named, _ := rd.rec.known()
	for _, odd := range named.odd {
		rd.repair(0, odd)
	}
	for _, t := range rd.rec.Info.texts() {
		*t.text = rd.info(t.name)
	}
	if err := rd.komi(); err != nil {
		return err
	}
	rd.rec.Turns = make([]Turn, 0, len(rd.line))
	rd.left = len(rd.line)
	for rd.left > 0 && !rd.line[rd.left-1].has("B", "W", "AB", "AW") {
		rd.left--
	}
	for _, n := range rd.line {
		rd.left--
		if err := rd.node(n); err != nil {
			rd.rec.Stopped, rd.rec.Ending = err, Ending{}
			break
		}
	}
	rd.handicap()
	if rd.negative && s.Handicap == 0 {
		rd.repair(0, says("KM[{0}] is negative: White gives Black a komi of {1}", cut(rd.info("KM"), 20), -s.Komi))
	}
	stones := map[rules.Color]*[]rules.Point{rules.Black: &s.Black, rules.White: &s.White}
	for _, p := range rd.board.Points() {
		if list := stones[rd.board.At(p)]; list != nil {
			*list = append(*list, p)
		}
	}
	rd.first()
	rd.rec.takeButton(named.says)
	return nil
}

// size reads SZ and lays out the board.
func (rd *reader) size() (err error) {
	s := &rd.rec.Setup
	s.W, s.H = 19, 19
	if sz := rd.info("SZ"); sz != "" {
		rd.rec.HasSize = true
		s.W, s.H, err = size(sz)
	} else if rd.has("SZ") {
		rd.repair(0, says("SZ[] names no size: the board is read as {0}×{1}", s.W, s.H))
	}
	rd.board, _ = rules.NewBoard(s.W, s.H)
	return err
}

// takeButton reads the first pass as taking the button, if the rules of the record have it so.
func (rec *Record) takeButton(f fields) {
	if f[button] != "1" || f[score] != "AREA" || rec.ours {
		return
	}
	if i := slices.IndexFunc(rec.Turns, func(t Turn) bool { return t.Kind == rules.Pass || t.Kind == rules.Button }); i >= 0 {
		rec.Turns[i].Kind = rules.Button
	}
}

// game returns an error if the record says that it is of another game than Go.
func (rd *reader) game() error {
	gm := rd.info("GM")
	switch strings.ToLower(gm) {
	case "", "1":
	case "go":
		rd.repair(0, says("GM[{0}] is read as Go", gm))
	default:
		return says("GM[{0}] is not read as Go, which is GM[1]", cut(gm, 20))
	}
	return nil
}

// komi reads KM or, if it names none, what RU says of komi.
func (rd *reader) komi() error {
	km := rd.info("KM")
	s := &rd.rec.Setup
	if named := komiOfRules.FindString(narrow(rd.rec.RU)); named != "" && km == "" && !rd.rec.ours {
		rd.repair(0, says("KM is read from RU[{0}]", cut(rd.rec.RU, 40)))
		km = named
	}
	p, said, err := komi(km, rd.byFox())
	switch {
	case km == "" && rd.has("KM"):
		rd.repair(0, says("KM[] names no komi: it is read as {0}", s.Komi))
	case km == "":
	case rd.rec.ours: // in points, and up to 400 of them
		if p, err = rules.ParsePoints(km); err != nil {
			return fmt.Errorf("KM[%s]: %w", cut(km, 20), err)
		}
		s.Komi, rd.rec.HasKomi = p, true
	case err != nil:
		rd.repair(0, says("KM[{0}] is not a komi: it is read as {1}", cut(km, 20), s.Komi))
	default:
		if said != "" {
			rd.repair(0, says("KM[{0}] is {1}, a komi of {2}", cut(km, 20), says(said), p))
		}
		s.Komi, rd.rec.HasKomi, rd.negative = p, true, p < 0 && said == ""
	}
	return nil
}

// has reports whether the record has a property, perhaps with an empty value.
func (rd *reader) has(name string) bool {
	return slices.ContainsFunc(rd.about, func(v value) bool { return v.name == name })
}

// siteNames are the headers of Sina and of the sites and programs that copy from it, in the first node, and
// what SGF calls them. Elsewhere KO and TE are notes on a move.
var siteNames = map[string]string{"KO": "KM", "HD": "HA", "TE": "EV", "RD": "DT"}

// siteHeaders reads those headers of which the record has not the usual ones.
func (rd *reader) siteHeaders() {
	if len(rd.line) == 0 || rd.line[0].has("B", "W") {
		return
	}
	var read []string
	for _, v := range rd.line[0] {
		if usual := siteNames[v.name]; usual != "" && len(v.text) > 0 && rd.info(usual) == "" {
			rd.about = append(rd.about, value{usual, v.text})
			read = append(read, v.name+" ("+usual+")")
		}
	}
	if read != nil {
		rd.repair(0, says("other names of properties are understood: {0}", strings.Join(read, ", ")))
	}
}

// contradictions tells of which properties of the game the record has several values: info
// returns the first.
func (rd *reader) contradictions() {
	for _, name := range []string{"SZ", "KM", "HA", "RU"} {
		first := rd.info(name)
		if slices.ContainsFunc(rd.about, func(v value) bool {
			return v.name == name && !strings.HasPrefix(first, simpleText(string(v.text)))
		}) {
			rd.repair(0, says("{0} has several values: {1} is read", name, cut(first, 20)))
		}
	}
}

// byFox reports whether the Fox server wrote the record, which may have another AP, too.
func (rd *reader) byFox() bool {
	return slices.ContainsFunc(rd.about, func(v value) bool { return v.name == "AP" && bytes.HasPrefix(v.text, []byte("foxwq")) })
}

// info returns the first value that is not empty of a property that says something about
// the whole game, wherever it stands.
func (rd *reader) info(name string) string {
	most := MaxText
	if name == "RU" {
		most = maxRU
	}
	for _, v := range rd.about {
		if v.name != name {
			continue
		}
		if text := simpleTextOf(string(v.text), most); text != "" {
			return text
		}
	}
	return ""
}

// node reads the setup, the turn and the ending that a node has.
func (rd *reader) node(n node) error {
	if rd.move() > 0 && n.has("GM", "SZ") && !n.has("B", "W") {
		rd.repair(rd.move(), says("the head of a game stands after the first move: another game may begin there"))
	}
	lifts := rd.lifts(n)
	if !lifts {
		if err := rd.setup(n); err != nil {
			return err
		}
	}
	turns := 0
	for v := range n.of("B", "W") {
		if err := rd.turn(n, v); err != nil {
			return says("move {0}: {1}", rd.move()+1, err)
		}
		if turns++; turns == 2 {
			rd.repair(rd.move(), says("two turns stand in one node: they are read in their order"))
		}
	}
	if lifts {
		rd.lift(n)
	}
	rd.marks(n, turns > 0)
	return rd.ending(n)
}

// marks reads which points a node marks as territory. A node without marks leaves them,
// but a turn ends what was marked before.
func (rd *reader) marks(n node, turn bool) {
	if turn {
		rd.rec.territory = nil
	}
	for v := range n.of("TB", "TW") {
		ps, err := area(simpleText(string(v.text)), &rd.board)
		if err != nil {
			continue // a mark, and no more
		}
		if rd.rec.territory == nil {
			b, _ := rules.NewBoard(rd.board.Size())
			rd.rec.territory = &b
		}
		for _, p := range ps {
			rd.rec.territory.Put(p, v.color())
		}
	}
}

// lifts reports whether a node with setup does no more than take the dead stones off the board:
// passes have ended the record, or its last turn is a pass, before the node or in it. CGoban 1 writes such nodes.
func (rd *reader) lifts(n node) bool {
	if !n.has("AE") || n.has("AB", "AW") {
		return false
	}
	ts := slices.Clone(rd.rec.Turns)
	for v := range n.of("B", "W") {
		w, h := rd.board.Size()
		pass, _ := isPass(string(v.text), w, h)
		ts = append(ts, Turn{Turn: rules.Turn{Kind: map[bool]rules.Kind{true: rules.Pass, false: rules.Place}[pass]}})
	}
	passed := func(n int) bool { return len(ts) >= n && ts[len(ts)-n].Kind == rules.Pass }
	return passed(1) && (passed(2) || rd.left <= 0)
}

// lift reads the stones that a node takes off the board as dead.
func (rd *reader) lift(n node) {
	e := &rd.rec.Ending
	for v := range n.of("AE") {
		for _, p := range rd.area(v) {
			if !slices.Contains(e.Dead, p) {
				e.Dead = append(e.Dead, p)
			}
		}
	}
	if len(e.Dead) == 0 {
		return
	}
	if !e.Accepted {
		rd.repair(rd.move(), says("stones that are taken off the board after the last pass are read as dead"))
	}
	e.Accepted, rd.ended = true, true
}

// setup puts the stones of a node on the board. After moves the game begins anew from the position that comes of it, unless
// nothing changes.
func (rd *reader) setup(n node) error {
	if !n.has("AB", "AW", "AE") {
		return nil
	}
	played := rd.rec.Turns
	if n.has("B", "W") && len(played) == 0 {
		rd.repair(0, says("stones are set up in the node of the first move: they stand before it"))
	}
	first, before := rd.board, rd.board
	for _, t := range played {
		if t.Kind != rules.Place {
			continue
		}
		if before.At(t.At) != rules.None {
			return says("stones are set up after move {0}", rd.move())
		}
		before.Play(t.At, t.By)
	}
	rd.board = before
	for v := range n.of("AB", "AW", "AE") {
		for _, p := range rd.area(v) {
			if is := rd.board.At(p); is != before.At(p) && is != v.color() {
				rd.repair(0, says("{0} is set up in two ways at once: {1} is read", p, v.name))
			}
			rd.board.Put(p, v.color())
		}
	}
	switch {
	case len(played) == 0:
	case rd.board == before:
		rd.board = first
	default:
		rd.repair(rd.move(), says("stones are set up: the game is read on from that position, and what was captured or passed before does not count"))
		rd.rec.before, rd.rec.Turns = rd.move(), nil
		rd.next = played[len(played)-1].By.Opponent()
		if pl := n.values("PL"); len(pl) > 0 && len(pl[0]) > 0 {
			rd.next = player(string(pl[0]))
		}
	}
	return nil
}

// area reads a value of a setup. One that is no point is passed over.
func (rd *reader) area(v value) []rules.Point {
	w, h := rd.board.Size()
	text := simpleText(string(v.text))
	ps, err := area(text, &rd.board)
	if p, err := rules.ParsePoint(text, w, h); err == nil {
		rd.repair(rd.move(), says("[{0}] is read as the point {1}", text, p))
		return []rules.Point{p}
	}
	if err != nil {
		rd.repair(rd.move(), says("{0}: {1}: it is passed over", v.name, err))
		if none, _ := isPass(text, w, h); !none && v.name != "AE" {
			rd.lacks = says("the position before it lacks a stone: {0}: {1}", v.name, err)
		}
	}
	return ps
}

// spelled are the turns that some programs spell out.
var spelled = map[string]struct {
	kind rules.Kind
	said string
}{
	"pass":   {rules.Pass, "[{0}] is read as a pass"},
	"resign": {rules.Resign, "[{0}] is read as a resignation"},
}

// turn reads one turn of a node: a value of B or W.
func (rd *reader) turn(n node, turn value) error {
	if rd.ended {
		return says("a turn comes after the node that ends the game")
	}
	if rd.lacks != nil {
		return rd.lacks
	}
	t, err := rd.played(simpleText(string(turn.text)))
	if err != nil {
		return err
	}
	t.By = turn.color()
	w, h := rd.board.Size()
	for _, v := range n.values("XT") {
		if err := t.private(simpleText(string(v)), w, h); err != nil {
			return err
		}
	}
	rd.rec.Turns = append(rd.rec.Turns, t)
	return nil
}

// played reads a value of B or W: a point, a pass, or what programs write instead.
func (rd *reader) played(text string) (t Turn, err error) {
	w, h := rd.board.Size()
	read := func(k rules.Kind, at rules.Point, said string) (Turn, error) {
		if said != "" {
			rd.repair(rd.move()+1, says(said, text, at))
		}
		return Turn{Turn: rules.Turn{Kind: k, At: at}}, nil
	}
	if pass, odd := isPass(text, w, h); odd {
		return read(rules.Pass, rules.Point{}, "[{0}] is off the board: it is read as a pass")
	} else if pass {
		return read(rules.Pass, rules.Point{}, "")
	}
	if word, ok := spelled[strings.ToLower(text)]; ok {
		return read(word.kind, rules.Point{}, word.said)
	}
	at, err := point(text, h)
	if err == nil && !rd.board.Has(at) {
		return t, says("[{0}] is not on the board of {1}×{2}", text, w, h)
	}
	if err != nil {
		if at, e := rules.ParsePoint(text, w, h); e == nil {
			return read(rules.Place, at, "[{0}] is read as the point {1}")
		}
		return t, err
	}
	return read(rules.Place, at, "")
}

// private reads a value of XT on the node of a turn.
func (t *Turn) private(value string, w, h int) error {
	word, rest, _ := strings.Cut(value, " ")
	if word == "resume" && rest == "" {
		t.Resumed = true
		return nil
	}
	if t.Kind != rules.Pass || len(t.Dead) > 0 {
		return fmt.Errorf("XT[%s] stands on what is no pass", cut(value, 20))
	}
	for _, k := range []rules.Kind{rules.AcceptSuggestion, rules.Button, rules.Delay, rules.Draw, rules.Resign} {
		if value == k.String() {
			t.Kind = k
			return nil
		}
	}
	if word != rules.Pass.String() {
		return fmt.Errorf("XT[%s] is not a turn", cut(value, 20))
	}
	var err error
	t.Dead, err = named(rest, w, h)
	return err
}

// ending reads what a node says of the talk after the last turn.
func (rd *reader) ending(n node) error {
	w, h := rd.board.Size()
	e := &rd.rec.Ending
	for _, marks := range []struct {
		name   string
		points *[]rules.Point
	}{{"XD", &e.Dead}, {"XS", &e.Seki}} {
		if values := n.values(marks.name); len(values) > 0 {
			all := bytes.Join(values, []byte(" "))
			if len(all) > maxMarks {
				return says("{0} names more stones than a board has", marks.name)
			}
			ps, err := named(string(all), w, h)
			if err != nil {
				return fmt.Errorf("%s: %w", marks.name, err)
			}
			*marks.points, rd.ended = ps, true
		}
	}
	if n.has("B", "W") {
		return nil
	}
	for _, v := range n.values("XT") {
		is := map[string]*bool{"accept": &e.Accepted, "resume": &e.Resumed, "no-result": &e.NoResult}[simpleText(string(v))]
		if is == nil {
			return fmt.Errorf("XT[%s] stands on a node without a turn", cut(simpleText(string(v)), 20))
		}
		*is, rd.ended = true, true
	}
	return nil
}

// handicapWords match the number of stones in HA: "2", "2 stones", "2子", "二子".
var handicapWords = regexp.MustCompile(`^[让讓]?([0-9]{1,3})(?:\.0+)?(?:[ 子目点].*|stones?)?$`)

// handicap reads HA and finds its stones: in the setup, or in Black's first turns, which some
// servers write without HA.
func (rd *reader) handicap() {
	rec := &rd.rec
	n := 0
	if ha := rd.info("HA"); ha != "" {
		if m := handicapWords.FindStringSubmatch(figures(strings.ToLower(narrow(ha)))); m != nil {
			n, _ = strconv.Atoi(m[1])
		} else {
			rd.repair(0, says("HA[{0}] is not a number of stones: the handicap is read from the board", cut(ha, 20)))
		}
	}
	run, set := 0, rd.board.Stones(rules.Black)
	if rec.before == 0 {
		run = rd.run()
	}
	bare := set+rd.board.Stones(rules.White) == 0
	found := set // handicap stones
	switch {
	case bare && run >= 2 && (run < len(rec.Turns) || n >= 2):
		if found = run; n < 2 {
			n = run
			rd.repair(0, says("Black begins with {0} stones in a row: they are read as handicap", run))
		}
	case n >= 2 && run == n-set:
		found = n
	default:
		run = 0
	}
	if n < 2 {
		return
	}
	switch {
	case found < 2:
		rd.repair(0, says("HA[{0}]: the record does not say where the handicap stones stand: it is read without them", n))
		return
	case found < n || run > n:
		rd.repair(0, says("HA[{0}], but there are {1} such stones: they are read as the handicap", n, found))
		n = found
	}
	for _, t := range rec.Turns[:run] {
		rd.board.Put(t.At, rules.Black)
	}
	rec.Turns, rec.before = rec.Turns[run:], rec.before+run
	rec.Setup.Handicap = n
}

// run returns how many stones Black places before anybody else moves, each on an empty
// point.
func (rd *reader) run() int {
	b := rd.board
	for n, t := range rd.rec.Turns {
		if t.Kind != rules.Place || t.By != rules.Black || b.At(t.At) != rules.None {
			return n
		}
		b.Put(t.At, rules.Black)
	}
	return len(rd.rec.Turns)
}

// first finds who moves first: the player of the first turn, but anybody may
// resign; then PL; then the player whom the rules name.
func (rd *reader) first() {
	s := &rd.rec.Setup
	usual := rules.Black
	if s.Handicap > 0 {
		usual = rules.White
	}
	s.First = rd.next
	if pl := rd.info("PL"); pl != "" && rd.next == rules.None {
		if s.First = player(pl); s.First == rules.None {
			rd.repair(0, says("PL[{0}] is not a player: the first turn decides who begins", cut(strings.ToLower(pl), 20)))
		}
	}
	if ts := rd.rec.Turns; len(ts) > 0 && ts[0].Kind != rules.Resign {
		s.First = ts[0].By
	}
	if s.First == usual {
		s.First = rules.None
	}
}

// player returns whom PL names, None if nobody.
func player(pl string) rules.Color {
	return map[byte]rules.Color{'b': rules.Black, 'B': rules.Black, '1': rules.Black, 'w': rules.White, 'W': rules.White, '2': rules.White}[pl[0]]
}
