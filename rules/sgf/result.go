package sgf

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/rules"
)

// The words of records, in their languages, for the players, a win, a loss and an early end.
const (
	blackWord = `\bblack\b|\bb\b|黑|黒|흑|先番|\bnoirs?\b|\bschwarz\b|\bnegr[oa]s?\b|ч[её]рны[еймх]+`
	whiteWord = `\bwhite\b|\bw\b|白|백|後番|\bblanc(?:s|os?|as?)?\b|\bwei(?:ss|ß)|белы[еймх]+`
	winWord   = `\+|\bwins?\b|\bwon\b|\bbeats?\b|\bdefeats\b|胜|勝|승|赢|贏|gagne(?:nt)?\b|gagné|gewinnt\b|gewann|gewonnen|\bganan?\b|ganó|выигр\pL*|победил\pL*`
	loseWord  = `loses?\b|lost\b|loss\b|负|負|敗|败|輸|输|패|perd(?:ent|u)?\b|verliert\b|verlor(?:en)?\b|pierden?\b|perdi\pL*|проигр\pL*`
	leaveWord = `resign|forfeit|default|disqualif|disconnect|concede|g[ai]ves? up|\bquit\b|\bleft\b|time[ds]?[- ]?out|out of time|投了|投子|认输|認輸|[超逾][时時]|時間切れ|逃跑|断线|斷線|[弃棄][权權権]|` +
		`犯规|反則|기권|시간|abandon|forfait|aufgabe|gibt auf|gab auf|aufgegeben|überschreite|rinde|сда|просроч`
	byResign = `中盘|中盤|中押し?|불계`
)

// What RE says of the players and of how the game ended, of a count, of another end, and of none.
var (
	// The groups: Black, White, a loss, a win, leaving. "超时胜" is a win.
	verdicts = regexp.MustCompile(`(` + blackWord + `)|(` + whiteWord + `)|(?:` + byResign + `)?(` + loseWord + `)|((?:` + leaveWord + `|` + byResign + `)?(?:` + winWord + `)|` + byResign + `|\b(?:by|par|por|durch) (?:` + leaveWord + `))|(` + leaveWord + `)`)
	// The groups: whether a win or a loss stands before the amount, and the amount.
	counts = regexp.MustCompile(`^(?:[^执執]*[执執])?(?:` + blackWord + `|` + whiteWord + `)[番棋方の의以]*(?: ?[执執][黑黒白])? *((?:` + winWord + `|:|` + loseWord + `)(?: (?:by|with|de|par|por|mit|um|на))?|by)?(?: a)? *\(?` +
		amount + `\)? *(?:胜|勝|勝ち|負け|负|승|패)?[.!。]?(?: *[({].*)?$`)
	alone     = regexp.MustCompile(`^[ (.!?]*[rtf]?[ ).!?番棋方]*$`) // no more than the player: "B", "W (R)"
	undecided = regexp.MustCompile(`unfinish|adjourn|suspend|not |n't|to (?:play|move|win)|should|would|might|could|ahead|leads?\b|nicht|never|未胜|没有|不分`)
	noCounts  = regexp.MustCompile(`\+ *[rtf]|void|no result|中盘|中盤|中押|时|時|불계|[打封]挂|打掛|[无無][胜勝][负負敗]|` + leaveWord + `|time`)
	draws     = regexp.MustCompile(`^(?:0|draw|drawn|jigo|even|tie|tie game|[持和][碁棋]|和局|平局|和|引き?分け?|ジゴ|빅|무승부|ничья|unentschieden|remis|(?:partie |match )?nul(?:le)?|tablas|empate)[.!。]?(?: *[({].*)?$`)
	nobodys   = regexp.MustCompile(`^(?:\?|tied|void|no(?: |-)?result|none|unknown|.*[打封]挂|打ち?掛け?|.*[无無][胜勝][负負敗]|[暂暫]?[无無][结結]果|未[完知]|$)`)

	// A remark before or behind is no part of the result: "Result: B+5, 154 moves".
	remarks = regexp.MustCompile(`^(?:result|winner|re|[结結]果): *|[, ]*(?:[({]moves? .*|komi.*|[共全]?[0-9]+ *(?:手|moves))$`)
	// Collections of Japan and Korea put the number of moves first: "257手完, 黒中押し勝ち".
	movesFirst = regexp.MustCompile(`^[共全총]? *([0-9]{1,3}) *(?:手|수|moves?)(?:完|まで|にて|で| ?끝|만에)?[、。,:. ]*`)
)

// amount matches points or stones as people write them, once figures has read them.
const amount = `([0-9]*)(?:[.,]([0-9]+)|(½))? *(?:(目半|집반|목반|호반)|(子)|目|집|목|호|points?|pts?|moku|puntos?|punkte?n?|очк\pL*)?`

// figures writes the numbers of a text in digits: "又3/4" and "四分之三" as .75, "十二目半" as "12目半".
func figures(s string) string {
	return tens.ReplaceAllStringFunc(fractions.Replace(s), func(s string) string {
		ten, one, _ := strings.Cut(s, "十")
		return cmp.Or(ten, "1") + cmp.Or(one, "0")
	})
}

var tens = regexp.MustCompile(`[1-9]?十[1-9]?`)

var fractions = strings.NewReplacer("又", "", "四分之一", ".25", "四分之三", ".75", "二分之一", ".5", "半目", ".5目", "半子", ".5子", "子半", ".5子",
	"반집", ".5집", "집 반", "집반", "half a ", "½ ", "half ", "½ ", "one ", "1 ",
	"一", "1", "二", "2", "両", "2", "三", "3", "四", "4", "五", "5", "六", "6", "七", "7", "八", "8", "九", "9",
	" 1/2", ".5", " 1/4", ".25", " 3/4", ".75", "1/4", ".25", "1/2", ".5", "3/4", ".75", "¼", ".25", "¾", ".75")

// amountOf reads the groups of a match of amount. Quarters of points, and 子, are stones, of
// two points each.
func amountOf(m []string) (n rules.Points, stones, ok bool) {
	if len(m[0]) > 3 || m[0]+m[1]+m[2] == "" {
		return 0, false, false
	}
	whole, _ := strconv.Atoi("0" + m[0])
	part, ok := map[string]int{"": 0, "25": 1, "5": 2, "75": 3}[strings.TrimRight(m[1], "0")]
	quarters := 4*whole + part
	if m[2]+m[3] != "" { // ½ and 半
		quarters += 2
	}
	if stones = quarters%2 == 1 || m[4] != ""; stones {
		quarters *= 2
	}
	return rules.Points(quarters/2) * rules.Half, stones, ok
}

// result returns RE in small letters, none of them wide, without the number of moves and other
// remarks, and with colours in place of the players' names.
func (rec *Record) result() string {
	re := strings.ToLower(narrow(rec.Info.Result))
	re = strings.Trim(remarks.ReplaceAllString(re[len(movesFirst.FindString(re)):], ""), ` ,;"]`)
	if draws.MatchString(re) || nobodys.MatchString(re) {
		return re
	}
	for _, n := range rec.names() {
		re = renamed(re, n.name, strings.ToLower(n.color.String()))
	}
	return strings.TrimSpace(re)
}

// A calledPlayer is a way in which a result may call a player.
type calledPlayer struct {
	name  string
	color rules.Color
}

// ranks match what may stand behind a name.
var ranks = regexp.MustCompile(` *\(?[0-9一二三四五六七八九初]+ *(?:段|단|级|級|급|dan\b|kyu\b|d\b|k\b|p\b).*$`)

// names returns how the players may be called: by name, without a rank, and by the first word of
// the name; the longest first, because one may begin with another. What both are called is nobody's name.
func (rec *Record) names() (all []calledPlayer) {
	called := func(name string, c rules.Color) {
		at := slices.IndexFunc(all, func(p calledPlayer) bool { return p.name == name })
		switch {
		case at >= 0 && all[at].color != c:
			all[at].color = rules.None
		case at < 0 && utf8.RuneCountInString(name) > 1 && !colour.MatchString(name):
			all = append(all, calledPlayer{name, c})
		}
	}
	var first [2]string
	for i, c := range []rules.Color{rules.Black, rules.White} {
		name := strings.ToLower(narrow([]string{rec.Info.Black, rec.Info.White}[i]))
		called(name, c)
		name = ranks.ReplaceAllString(name, "")
		called(name, c)
		first[i], _, _ = strings.Cut(name, " ")
		if r := []rune(name); len(r) > 2 && strings.ContainsRune("黑黒白흑백", r[0]) {
			called(string(r[:2]), c) // 白江治彦 may be 白江, who is not White
		}
	}
	for i, c := range []rules.Color{rules.Black, rules.White} {
		if first[i] != first[1-i] {
			called(first[i], c)
		}
	}
	slices.SortStableFunc(all, func(a, b calledPlayer) int { return len(b.name) - len(a.name) })
	return all
}

// colour matches a text that is no more than the word for a player.
var colour = regexp.MustCompile(`^(?:` + blackWord + `|` + whiteWord + `)[番棋方]?$`)

// renamed puts a colour in place of a name, but not where it is a part of a word.
func renamed(text, name, color string) string {
	const alphabets = '\u2e80' // what comes after them is written without spaces
	joins := func(a, b rune) bool {
		return a < alphabets && b < alphabets && unicode.IsLetter(a) && unicode.IsLetter(b)
	}
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(text, name)
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		first, _ := utf8.DecodeRuneInString(name)
		end, _ := utf8.DecodeLastRuneInString(name)
		next, _ := utf8.DecodeRuneInString(after)
		if joins(last, first) || joins(end, next) {
			out.WriteString(name)
		} else {
			out.WriteString(" " + color + " ")
		}
		text = after
	}
}

// cutShort returns the number of moves that RE tells, if the record has fewer.
func (rec *Record) cutShort() (moves int, short bool) {
	if m := movesFirst.FindStringSubmatch(strings.ToLower(narrow(rec.Info.Result))); m != nil {
		moves, _ = strconv.Atoi(m[1])
	}
	return moves, moves > rec.Moves()
}

// Winner returns who won by RE, however that came about; None if it does not say, or not in
// words that are known. The first word of a win, of a loss or of leaving decides, for the player
// who was named last before it; where both were, only a win tells which of them is meant.
func (rec *Record) Winner() rules.Color {
	re := rec.result()
	if undecided.MatchString(re) || draws.MatchString(re) {
		return rules.None
	}
	who, both, end := rules.None, false, 0
	for _, m := range verdicts.FindAllStringSubmatchIndex(re, -1) {
		switch is := func(group int) bool { return m[2*group] >= 0 }; {
		case is(1) || is(2):
			if m[1]-m[0] == 1 && strings.HasPrefix(re[m[1]:], ". ") { // "B. Kim wins"
				continue
			}
			c := map[bool]rules.Color{true: rules.Black, false: rules.White}[is(1)]
			both = both || who == c.Opponent()
			who, end = c, m[1]
			if !both && strings.HasPrefix(re[end:], " by ") {
				return who
			}
		case who == rules.None:
			return rules.None
		case is(4):
			return who
		case both, is(5) && slices.Contains([]string{"(", "/", ",", "-", ":"}, strings.TrimSpace(re[end:m[0]])): // "White (resigned)" may mean either
			return rules.None
		default:
			return who.Opponent()
		}
	}
	if m := counts.FindStringSubmatch(figures(re)); m != nil {
		if _, _, ok := amountOf(m[2:]); ok && !both {
			return who
		}
	}
	if who != rules.None && !both && verdicts.FindStringIndex(re)[0] == 0 && alone.MatchString(re[end:]) {
		return who
	}
	return rules.None
}

// uncounted reports whether RE names an end of the game other than a count.
func (rec *Record) uncounted() bool { return noCounts.MatchString(rec.result()) }

// told reads RE where it tells a count: "B+2.5", "White + 4", "0", "Draw", "黑胜1又3/4子".
// The margin is in points, also where RE tells it in stones.
func (rec *Record) told() (margin rules.Points, stones, ok bool) {
	re := rec.result()
	if draws.MatchString(re) {
		return 0, false, true
	}
	m, winner := counts.FindStringSubmatch(figures(re)), rec.Winner()
	if m == nil || winner == rules.None {
		return 0, false, false
	}
	margin, stones, ok = amountOf(m[2:])
	s := rec.Setup
	all := rules.Points(s.W*s.H) * rules.One
	sign := map[rules.Color]rules.Points{rules.Black: 1, rules.White: -1}[winner]
	margin *= sign
	if size := max(margin, -margin); m[6] != "" && (size > all || m[1] == "" && 5*size >= 4*all) {
		// More than anybody wins by: it is what the winner has, without the komi.
		margin -= s.Komi + sign*all
		ok = ok && (margin > 0) == (winner == rules.Black)
	}
	return margin, stones, ok
}

// says reports whether RE tells a margin.
func (rec *Record) says(margin rules.Points) bool {
	want, _, told := rec.told()
	return told && margin == want
}
