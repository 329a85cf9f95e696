package bot

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/width"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// What /read tells in words, for those who hear a game and do not see it.
const (
	readLast      = "last"
	readClock     = "clock"
	readRow       = "row"
	readColumn    = "column"
	readChain     = "chain"
	readLiberties = "liberties"
	readLedger    = "ledger"
)

// readings are the values of the option what of /read, as people type them alone, too.
var readings = []string{readLast, readClock, readRow, readColumn, readChain, readLiberties, readLedger}

// bareReading is one of them, perhaps with a place behind it: "row 5", "chain D4?"
var bareReading = regexp.MustCompile(`(?i)^(?:(last|clock|ledger)|(row) ([0-9]{1,3})|(column) ([a-z0-9]{1,2})|(chain|liberties) (\S+|[a-z] [0-9]{1,3}))[.?!。？！]*$`)

// BareReading reads what somebody typed without a command to hear something of a game:
// "last", "clock", "ledger", "row 5", "column D", "chain D4", "liberties D4". It reports
// false for everything else.
func BareReading(typed string) (command string, args map[string]string, ok bool) {
	if len(typed) > 40 {
		return "", nil, false
	}
	found := bareReading.FindStringSubmatch(strings.Join(strings.Fields(width.Fold.String(typed)), " "))
	if found == nil {
		return "", nil, false
	}
	what := strings.ToLower(cmp.Or(found[1], found[2], found[4], found[6]))
	where := strings.TrimRight(cmp.Or(found[3], found[5], found[7]), ".?!。？！")
	if point := match.TidyPoints(where); found[6] != "" && !aPoint.MatchString(point) && !likeAPoint.MatchString(point) {
		return "", nil, false // "chain reaction"
	}
	return "read", map[string]string{"what": what, "where": where}, true
}

// readAloud tells something of a game in words.
func readAloud(q *question) outbox.Post {
	what, where := strings.ToLower(strings.TrimSpace(q.req.Args["what"])), strings.TrimSpace(q.req.Args["where"])
	if what == "" {
		what = readLast
	}
	if near := text.Nearest(what, readings); !slices.Contains(readings, what) && near != "" && len(what) > 2 {
		return q.refuse(say("read.near", shortened(what), near))
	}
	needs := slices.Contains([]string{readRow, readColumn, readChain, readLiberties}, what)
	switch {
	case needs && where == "":
		return q.nowhere(what)
	case what == readLast:
		return q.readLast()
	case what == readClock:
		return clocks(q)
	case what == readLedger:
		return q.answer(ledger(q.pos.Game, q.number())...)
	case what == readRow, what == readColumn:
		return q.readLine(what, where)
	case needs:
		return q.readChain(what, where)
	}
	return q.refuse(say("read.bad", shortened(what), strings.Join(readings, ", ")))
}

// nowhere asks where to read, with an example.
func (q *question) nowhere(what string) outbox.Post {
	board := q.pos.Final().Board()
	example := match.Example(board.Rows())
	switch what {
	case readRow:
		example = example[1:]
	case readColumn:
		example = example[:1]
	}
	return q.refuse(say("read.where", what, example))
}

// readLast tells what the last turn did and what is next.
func (q *question) readLast() outbox.Post {
	scene, err := q.b.scene(q.ctx, q.match, q.pos, q.lang, q.look())
	if err != nil {
		return q.failed(err)
	}
	v := View{Scene: scene}
	return q.told(v.heard(q.match, q.pos, q.pos, q.lang, q.by)...)
}

// readLine tells what lies on the points of a row or a column, those that are alike together.
func (q *question) readLine(what, where string) outbox.Post {
	board := q.pos.Final().Board()
	w, h := board.Size()
	where = width.Fold.String(where)
	line, refusal := lineOf(what, where, w, h)
	if refusal != nil {
		return q.refuse(*refusal)
	}
	scene, err := q.b.scene(q.ctx, q.match, q.pos, q.lang, q.look())
	if err != nil {
		return q.failed(err)
	}
	name := render.PointNames(scene)
	lies := func(p rules.Point) string { return strings.TrimPrefix(name(p), p.String()) } // with a comma before it
	head := say("read.row", where)
	if what == readColumn {
		head = say("read.column", strings.ToUpper(where))
	}
	said := []string{q.lang.Say(head)}
	for i := 0; i < len(line); i++ {
		points := line[i].String()
		first := points
		for i+1 < len(line) && lies(line[i+1]) == lies(line[i]) {
			i++
			points = q.lang.Say(say("read.run", first, line[i].String()))
		}
		said = append(said, points+lies(line[i]))
	}
	return q.told(said...)
}

// lineOf returns the points of a row, from the left, or of a column, from below, of a board of
// w columns and h rows; or why there is no such line.
func lineOf(what, where string, w, h int) (line []rules.Point, refusal *Text) {
	n, err := strconv.Atoi(where)
	if what == readRow {
		if err != nil || n < 1 || n > h {
			return nil, new(say("read.row.bad", shortened(where), h))
		}
		for x := range w {
			line = append(line, rules.Point{X: int8(x), Y: int8(n - 1)})
		}
		return line, nil
	}
	if err != nil { // as boards with numbers name it
		p, err := rules.ParsePoint(where+"1", w, h)
		if len(where) != 1 {
			return nil, new(say("read.column.bad", shortened(where)))
		}
		if err != nil {
			return nil, new(wrong(err))
		}
		n = int(p.X) + 1
	}
	if n < 1 || n > w {
		return nil, new(say("read.column.bad", shortened(where)))
	}
	for y := range h {
		line = append(line, rules.Point{X: int8(n - 1), Y: int8(y)})
	}
	return line, nil
}

// readChain tells how large the chain on a point is and what its liberties are; of an empty
// point, what lies around it.
func (q *question) readChain(what, where string) outbox.Post {
	board := q.pos.Final().Board()
	w, h := board.Size()
	points, err := match.ParsePoints(where, w, h)
	switch {
	case err != nil:
		return q.refuse(wrong(err))
	case len(points) != 1:
		return q.nowhere(what)
	}
	at := points[0]
	if board.At(at) == rules.None {
		said := []string{q.lang.Say(say("read.empty", at.String()))}
		for _, n := range neighbours(board, at) {
			said = append(said, q.lang.Say(say("list", n.String(), q.lang.PictureWords().Lies[board.At(n)])))
		}
		return q.told(said...)
	}
	chain := board.Chain(at)
	liberties := libertiesOf(board, chain)
	head := say("read.chain", len(chain), text.Color(board.At(at)), names(chain))
	if what == readLiberties {
		head = say("read.chain.at", len(chain), text.Color(board.At(at)), at.String())
	}
	return q.told(q.lang.Say(head), q.lang.Say(say("read.liberties", len(liberties), names(liberties))))
}

// told returns an answer of sentences.
func (q *question) told(sentences ...string) outbox.Post {
	return q.answer(say("plain", q.lang.PictureWords().Sentences(sentences...)))
}

func names(ps []rules.Point) Text {
	var all []string
	for _, p := range ps {
		all = append(all, p.String())
	}
	return text.List(all...)
}

// neighbours returns the points next to a point.
func neighbours(board rules.Board, p rules.Point) (out []rules.Point) {
	for _, n := range []rules.Point{{X: p.X - 1, Y: p.Y}, {X: p.X, Y: p.Y + 1}, {X: p.X + 1, Y: p.Y}, {X: p.X, Y: p.Y - 1}} {
		if board.Has(n) {
			out = append(out, n)
		}
	}
	return out
}

// libertiesOf returns the empty points next to a chain, in the order of its stones.
func libertiesOf(board rules.Board, chain []rules.Point) (out []rules.Point) {
	for _, stone := range chain {
		for _, n := range neighbours(board, stone) {
			if board.At(n) == rules.None && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}
