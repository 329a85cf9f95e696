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
// properties, a missing GM (another than 1 is an error), FF, CA, SZ (19), KM (0) and RU, information
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
	edits    int         // setups after moves
	taken    *taken      // the last of them, if it did no more than take stones off, and nothing follows
	left     int         // nodes of line from the one that is read to the last one with a turn or a stone
	next     rules.Color // who moves after the last of edits
	negative bool        // KM is, and nothing was said of it
	lacks    error       // why a stone of the position before the first turn cannot be put on the board
	rec      Record
}

// taken is a node that takes stones off the board, and the reader before it.
type taken struct {
	by   node
	from reader
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
	rd.headers()
	rd.contradictions()
	s := &rd.rec.Setup
	s.W, s.H = 19, 19
	if sz := rd.info("SZ"); sz != "" {
		rd.rec.HasSize = true
		var odd bool
		var err error
		if s.W, s.H, odd, err = size(sz); err != nil {
			return err
		}
		if odd {
			rd.repair(0, says("SZ[{0}] is read as {1}×{2}", cut(sz, 20), s.W, s.H))
		}
	} else if rd.has("SZ") {
		rd.repair(0, says("SZ[] names no size: the board is read as {0}×{1}", s.W, s.H))
	}
	rd.board, _ = rules.NewBoard(s.W, s.H)
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
	if rd.endsLifted() {
		n := rd.taken.by
		*rd = rd.taken.from
		rd.lift(n, says("stones that are taken off the board after the last turn are read as dead"))
		rd.marks(n, false)
	}
	rd.stifled()
	rd.handicap()
	if rd.negative && s.Handicap == 0 {
		rd.repair(0, says("KM[{0}] is negative: White gives Black a komi of {1}", cut(rd.info("KM"), 20), -s.Komi))
	}
	for _, p := range rd.board.Points() {
		switch rd.board.At(p) {
		case rules.Black:
			s.Black = append(s.Black, p)
		case rules.White:
			s.White = append(s.White, p)
		}
	}
	rd.first()
	if named.says[button] == "1" && named.says[score] == "AREA" && !rd.rec.ours {
		rd.rec.takeButton()
	}
	return nil
}

// takeButton reads the first pass as taking the button, as the rules of the record have it.
func (rec *Record) takeButton() {
	if i := slices.IndexFunc(rec.Turns, func(t Turn) bool { return t.Kind == rules.Pass || t.Kind == rules.Button }); i >= 0 {
		rec.Turns[i].Kind = rules.Button
	}
}

// otherGames are names of games other than Go, of which SGF knows forty by number.
var otherGames = regexp.MustCompile(`othello|reversi|chess|gomoku|renju|morris|backgammon|shogi|hex|draughts|checkers|xiangqi|象棋|将棋|五子棋|連珠`)

// fiveInARow are names of rules of games with five stones in a row.
var fiveInARow = regexp.MustCompile(`^(?:free ?style )?(?:gomoku|go-moku|renju|五子棋|連珠)`)

// game returns an error if the record says that it is of another game than Go.
func (rd *reader) game() error {
	gm, ru := rd.info("GM"), rd.info("RU")
	n, err := strconv.Atoi(narrow(gm))
	if fiveInARow.MatchString(strings.ToLower(ru)) {
		return says("RU[{0}] are the rules of another game than Go", cut(ru, 20))
	}
	switch {
	case gm == "" || gm == "1":
		return nil
	case err == nil && n != 0 && n != 1 || otherGames.MatchString(strings.ToLower(gm)):
		return says("GM[{0}] is another game than Go", cut(gm, 20))
	}
	rd.repair(0, says("GM[{0}] is read as Go", cut(gm, 20)))
	return nil
}

const notKomi = "{0}[{1}] is not a komi, and is passed over"

// komi reads KM or, if the record has none, KI of the first versions of SGF, or what its texts
// say of komi.
func (rd *reader) komi() error {
	km := rd.info("KM")
	s, i := &rd.rec.Setup, &rd.rec.Info
	if rd.rec.ours { // in points, and up to 400 of them
		if km == "" {
			return nil
		}
		p, err := rules.ParsePoints(km)
		if err != nil {
			return fmt.Errorf("KM[%s]: %w", cut(km, 20), err)
		}
		s.Komi, rd.rec.HasKomi = p, true
		return nil
	}
	p, said, err := komi(km)
	if large := p >= largeKomi || p <= -largeKomi; err == nil && said == "" && large {
		said = "in points"
		if (p >= 50*rules.One || p <= -50*rules.One) && rd.byFox() {
			p, said = p/100, "in hundredths"
		}
	}
	if err == nil {
		if said != "" {
			rd.repair(0, says("KM[{0}] is {1}, a komi of {2}", cut(km, 20), says(said), p))
		}
		s.Komi, rd.rec.HasKomi, rd.negative = p, true, p < 0 && said == ""
		return nil
	}
	wrong := says(notKomi, "KM", cut(km, 20))
	if halves, err := strconv.Atoi(rd.info("KI")); err == nil && halves >= 0 && rules.Points(halves) < mostKomi {
		if km != "" {
			rd.repair(0, wrong)
		}
		s.Komi, rd.rec.HasKomi = rules.Points(halves), true
		rd.repair(0, says("KI[{0}] is in half points, a komi of {1}", halves, s.Komi))
		return nil
	}
	if ki := rd.info("KI"); ki != "" && km == "" {
		rd.repair(0, says(notKomi, "KI", cut(ki, 20)))
	}
	for _, text := range []string{rd.rec.RU, i.Event, i.Name, i.Round, i.Overtime, i.Place} {
		if p, words, ok := mentioned(cut(text, MaxText)); ok {
			if km != "" {
				rd.repair(0, wrong)
			}
			rd.repair(0, says("by “{0}” the komi is {1}", cut(words, 20), p))
			s.Komi, rd.rec.HasKomi = p, true
			return nil
		}
	}
	switch {
	case km != "":
		rd.repair(0, says("KM[{0}] is not a komi: it is read as {1}", cut(km, 20), s.Komi))
	case rd.has("KM"):
		rd.repair(0, says("KM[] names no komi: it is read as {0}", s.Komi))
	}
	return nil
}

// has reports whether the record has a property, perhaps with an empty value.
func (rd *reader) has(name string) bool {
	return slices.ContainsFunc(rd.about, func(v value) bool { return v.name == name })
}

// headers reads the headers of Sina and of the sites that copy from it: KO, HD, TE and RD in
// the first node. Elsewhere KO and TE are notes on a move.
func (rd *reader) headers() {
	if len(rd.line) == 0 || rd.line[0].has("B", "W") {
		return
	}
	var read []string
	for _, v := range rd.line[0] {
		text, means := simpleText(string(v.text)), ""
		switch v.name {
		case "KO":
			if _, _, err := komi(text); err == nil {
				means = "KM"
			} else if text != "" && rd.info("KM") == "" {
				rd.repair(0, says(notKomi, "KO", cut(text, 20)))
			}
		case "HD":
			if stonesOf(text) != nil {
				means = "HA"
			} else if text != "" && rd.info("HA") == "" {
				rd.repair(0, says(noStones, "HD", cut(text, 20)))
			}
		case "TE":
			if text != "1" && text != "2" {
				means = "EV"
			}
		case "RD":
			means = "DT"
		}
		if means != "" && text != "" && rd.info(means) == "" {
			rd.about = append(rd.about, value{means, v.text})
			read = append(read, v.name+" ("+means+")")
		}
	}
	if read != nil {
		rd.repair(0, says("other names of properties are understood: {0}", strings.Join(read, ", ")))
	}
}

// contradictions tells of which properties of the game the record has several values: info
// returns the first.
func (rd *reader) contradictions() {
	names := []string{"SZ", "KM", "HA", "RU"}
	var first, other [4]string
	for _, v := range rd.about {
		at := slices.Index(names, v.name)
		if at < 0 {
			continue
		}
		switch text := simpleText(string(v.text)); {
		case first[at] == "":
			first[at] = text
		case text != "" && text != first[at]:
			other[at] = text
		}
	}
	for at, name := range names {
		if other[at] != "" {
			rd.repair(0, says("{0} has several values: {1} is read", name, cut(first[at], 20)))
		}
	}
}

// byFox reports whether the Fox server wrote the record, which may have another AP, too.
func (rd *reader) byFox() bool {
	return slices.ContainsFunc(rd.about, func(v value) bool { return v.name == "AP" && bytes.HasPrefix(v.text, []byte("foxwq")) })
}

// endsLifted reports whether the record ends with stones that are taken off the board, and
// tells a count.
func (rd *reader) endsLifted() bool {
	if rd.taken == nil || len(rd.rec.Turns) > 0 {
		return false
	}
	_, _, told := rd.rec.told()
	return told
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
	setup := n.has("AB", "AW", "AE")
	lifts := setup && rd.lifts(n)
	if setup && !lifts {
		if len(rd.rec.Turns) == 0 {
			rd.taken = nil
			_ = rd.setup(n, true)
			if n.has("B", "W") {
				rd.repair(0, says("stones are set up in the node of the first move: they stand before it"))
			}
		} else if err := rd.edited(n); err != nil {
			return err
		}
	}
	if rd.move() > 0 && n.has("GM", "SZ") && !n.has("B", "W") {
		rd.repair(rd.move(), says("the head of a game stands after the first move: another game may begin there"))
	}
	turns := 0
	for _, v := range n {
		if v.name != "B" && v.name != "W" {
			continue
		}
		if err := rd.turn(n, v); err != nil {
			return says("move {0}: {1}", rd.move()+1, err)
		}
		if turns++; turns == 2 {
			rd.repair(rd.move(), says("two turns stand in one node: they are read in their order"))
		}
	}
	if lifts {
		rd.lift(n, says("stones that are taken off the board after the last pass are read as dead"))
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
	for _, v := range n {
		if v.name != "TB" && v.name != "TW" {
			continue
		}
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
// passes have ended the record, or its last turn is a pass, before the node or in it.
func (rd *reader) lifts(n node) bool {
	ts := rd.rec.Turns
	if len(ts) == 0 || n.has("AB", "AW") {
		return false
	}
	var last *value
	for _, v := range n {
		if v.name == "B" || v.name == "W" {
			last = &v
		}
	}
	if last != nil {
		w, h := rd.board.Size()
		pass, _ := isPass(strings.ToLower(simpleText(string(last.text))), w, h)
		return pass && rd.left <= 0
	}
	passed := func(n int) bool { return len(ts) >= n && ts[len(ts)-n].Kind == rules.Pass }
	return passed(1) && (passed(2) || rd.left <= 0)
}

// lift reads the stones that a node takes off the board as dead.
func (rd *reader) lift(n node, said rules.Saying) {
	e := &rd.rec.Ending
	b, _ := rules.NewBoard(rd.board.Size())
	for _, p := range e.Dead {
		b.Put(p, rules.Black)
	}
	for _, v := range n {
		if v.name != "AE" {
			continue
		}
		for _, p := range rd.area(v) {
			if b.At(p) == rules.None {
				b.Put(p, rules.Black)
				e.Dead = append(e.Dead, p)
			}
		}
	}
	if len(e.Dead) == 0 {
		return
	}
	if !e.Accepted {
		rd.repair(rd.move(), said)
	}
	e.Accepted, rd.ended = true, true
}

// edited reads stones that are set up after moves: the game goes on from the position that
// comes of it, as if it began there. A setup that changes nothing is passed over.
func (rd *reader) edited(n node) error {
	ts, move := rd.rec.Turns, rd.move()
	illegal := says("stones are set up after move {0}", move)
	if last := len(ts) - 1; last > 0 && ts[last].Kind == rules.Pass && ts[last-1].Kind == rules.Pass {
		return says("stones are set up after move {0}, when both players have passed", move)
	}
	if rd.rec.ours || rd.edits == maxEdits {
		return illegal
	}
	before := rd.board
	for _, t := range ts {
		if t.Kind != rules.Place {
			continue
		}
		if before.At(t.At) != rules.None {
			return illegal
		}
		before.Play(t.At, t.By)
	}
	after := *rd
	after.board = before
	if err := after.setup(n, false); err != nil {
		return says("move {0}: {1}", move, err)
	}
	if after.board == before {
		rd.rec.Repairs = after.rec.Repairs
		return nil
	}
	for _, p := range after.board.Points() {
		if after.board.At(p) != rules.None && after.board.Liberties(p) == 0 {
			return illegal
		}
	}
	from := *rd
	*rd = after
	if rd.taken = nil; !n.has("AB", "AW", "B", "W") {
		rd.taken = &taken{n, from}
	}
	rd.repair(move, says("stones are set up: the game is read on from that position, and what was captured or passed before does not count"))
	rd.rec.Turns, rd.rec.before, rd.rec.edited = nil, move, true
	rd.edits++
	rd.next = ts[len(ts)-1].By.Opponent()
	if pl := n.values("PL"); len(pl) > 0 {
		rd.next = player(simpleText(string(pl[0])))
	}
	return nil
}

// setup puts the stones of a node on the board. A value that is no point is passed over if
// the setup is forgiving, and so is an empty one.
func (rd *reader) setup(n node, forgiving bool) error {
	here := map[rules.Point]rules.Color{}
	for _, v := range n {
		if v.name != "AB" && v.name != "AW" && v.name != "AE" {
			continue
		}
		c := v.color()
		if _, err := area(strings.ToLower(simpleText(string(v.text))), &rd.board); err != nil && !forgiving && len(v.text) > 0 {
			return says("{0}: {1}", v.name, err)
		}
		for _, q := range rd.area(v) {
			if before, twice := here[q]; twice && before != c {
				rd.repair(0, says("{0} is set up in two ways at once: {1} is read", q, v.name))
			}
			here[q] = c
			rd.board.Put(q, c)
		}
	}
	return nil
}

// area reads a value of a setup. One that is no point is passed over.
func (rd *reader) area(v value) []rules.Point {
	text := rd.small(rd.move(), simpleText(string(v.text)))
	ps, err := area(text, &rd.board)
	if err != nil {
		rd.repair(rd.move(), says("{0}: {1}: it is passed over", v.name, err))
		w, h := rd.board.Size()
		if none, odd := isPass(text, w, h); v.name != "AE" && (!none || odd && text != "zz") {
			rd.lacks = says("the position before it lacks a stone: {0}: {1}", v.name, err)
		}
	}
	return ps
}

// isLettered reports whether a text is a point in the coordinates of players, "R16", which some
// programs write.
func isLettered(text string) bool {
	return (len(text) == 2 || len(text) == 3 && isDigit(text[2])) && isLetter(text[0]) && isDigit(text[1])
}

// small returns the name of a point, or of two, in small letters, because no board is so
// large that it needs capital ones.
func (rd *reader) small(move int, text string) string {
	if isLettered(text) {
		w, h := rd.board.Size()
		p, err := rules.ParsePoint(text, w, h)
		if err != nil {
			return text
		}
		rd.repair(move, says("[{0}] is read as the point {1}", text, p))
		return name(p, h)
	}
	low := strings.ToLower(text)
	if low == text {
		return text
	}
	if _, err := area(low, &rd.board); err != nil && low != "tt" {
		return text
	}
	rd.repair(move, says("[{0}] is read as [{1}]", text, low))
	return low
}

// stifled takes stones without a liberty off the board on which the game begins.
func (rd *reader) stifled() {
	for _, p := range rd.board.Points() {
		if rd.board.At(p) == rules.None || rd.board.Liberties(p) > 0 {
			continue
		}
		for _, q := range rd.board.Chain(p) {
			rd.board.Put(q, rules.None)
		}
		rd.repair(0, says("{0} is set up without a liberty: its chain is left out", p))
	}
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
	if rd.move() == 0 {
		rd.stifled()
	}
	w, h := rd.board.Size()
	t := Turn{Turn: rules.Turn{Kind: rules.Pass, By: turn.color()}}
	v := rd.small(rd.move()+1, simpleText(string(turn.text)))
	if pass, odd := isPass(v, w, h); odd {
		rd.repair(rd.move()+1, says("[{0}] is off the board: it is read as a pass", v))
	} else if !pass {
		at, err := point(v, h)
		if err != nil {
			word, ok := spelled[strings.ToLower(v)]
			if _, off := rules.ParsePoint(v, w, h); !ok && isLettered(v) {
				err = off
			}
			if strings.HasPrefix(strings.ToLower(v), "swap") {
				return says("[{0}] is a move of Hex, not of Go", cut(v, 20))
			}
			if !ok {
				return err
			}
			t.Kind = word.kind
			rd.repair(rd.move()+1, says(word.said, v))
		} else if rd.board.Has(at) {
			t.Kind, t.At = rules.Place, at
		} else {
			return says("[{0}] is not on the board of {1}×{2}", v, w, h)
		}
	}
	for _, v := range n.values("XT") {
		if err := t.private(simpleText(string(v)), w, h); err != nil {
			return err
		}
	}
	rd.rec.Turns = append(rd.rec.Turns, t)
	return nil
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
		switch v := simpleText(string(v)); v {
		case "accept":
			e.Accepted = true
		case "resume":
			e.Resumed = true
		case "no-result":
			e.NoResult = true
		default:
			return fmt.Errorf("XT[%s] stands on a node without a turn", cut(v, 20))
		}
		rd.ended = true
	}
	return nil
}

// stonesOf finds the number of stones in HA: "2", "2 stones", "2子", "二子".
func stonesOf(ha string) []string {
	return handicapWords.FindStringSubmatch(figures(strings.ToLower(narrow(ha))))
}

var handicapWords = regexp.MustCompile(`^[让讓]?([0-9]{1,3})(?:\.0+)?(?:[ 子目점].*|stones?)?$`)

const noStones = "{0}[{1}] is not a number of stones: the handicap is read from the board"

// handicap reads HA and finds its stones: in the setup, in Black's first turns, which some
// servers write without HA, or on the customary points.
func (rd *reader) handicap() {
	rec := &rd.rec
	n := 0
	if ha := rd.info("HA"); ha != "" {
		if m := stonesOf(ha); m != nil {
			n, _ = strconv.Atoi(m[1])
		} else {
			rd.repair(0, says(noStones, "HA", cut(ha, 20)))
		}
	}
	unknown := func() {
		rd.repair(0, says("HA[{0}]: the record does not say where the handicap stones stand: it is read without them", n))
		if !rec.edited {
			rd.next = rules.White
		}
	}
	run := rd.run()
	missing := n - rd.board.Stones(rules.Black)
	bare := rd.board.Stones(rules.Black)+rd.board.Stones(rules.White) == 0
	inARow := bare && run >= 2 && (run < len(rec.Turns) || n >= 2) && !rec.edited
	switch {
	case inARow && run != n && n >= 2:
		rd.repair(0, says("HA[{0}], but Black begins with {1} stones in a row: they are read as the handicap", n, run))
		n = run
	case inARow && run != n:
		n = run
		rd.repair(0, says("Black begins with {0} stones in a row: they are read as handicap", n))
	case n < 2:
		return
	case missing <= 0:
		run = 0
	case rec.edited:
		unknown()
		return
	case run == missing:
	case bare && (len(rec.Turns) == 0 && rec.Stopped == nil || len(rec.Turns) > 0 && rec.Turns[0].By == rules.White):
		ps, err := rules.HandicapPoints(rec.Setup.W, rec.Setup.H, n)
		played := func(t Turn) bool { return t.Kind == rules.Place && slices.Contains(ps, t.At) }
		if err != nil || slices.ContainsFunc(rec.Turns, played) {
			unknown()
			return
		}
		for _, p := range ps {
			rd.board.Put(p, rules.Black)
		}
		rd.repair(0, says("HA[{0}] without its stones: they are put on the customary points {1}", n, rules.Names(ps)))
	default:
		set := n - missing
		if set == 1 {
			rd.repair(0, says("HA[{0}], but the record sets up one stone: it is read without handicap", n))
			return
		}
		if set == 0 {
			rd.repair(0, says("HA[{0}], but the record sets up no such stones: it is read without handicap", n))
			return
		}
		rd.repair(0, says("HA[{0}], but the record sets up {1} stones: they are read as the handicap", n, set))
		n, run = set, 0
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
// resign; then PL; then whoever the rules say.
func (rd *reader) first() {
	s := &rd.rec.Setup
	usual := rules.Black
	if s.Handicap > 0 {
		usual = rules.White
	}
	s.First = rd.next
	if pl := rd.info("PL"); pl != "" && !rd.rec.edited {
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
	switch pl = strings.ToLower(pl); {
	case strings.HasPrefix(pl, "b"), pl == "1":
		return rules.Black
	case strings.HasPrefix(pl, "w"), pl == "2":
		return rules.White
	}
	return rules.None
}
