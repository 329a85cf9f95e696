package rules

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Spec says how a custom ruleset is put together: a ruleset to begin with, if
// any, and under each heading the rules that replace what it says there, in
// the words in which rulesets recite them:
//
//	Spec{
//		Name: "three-passes", Base: "aga",
//		Moves: map[string][]string{"pass": {
//			"unless it is the first pass of the game, a pass gives your opponent a pass stone",
//			"when 3 passes have been made in a row, play stops",
//		}},
//	}
//
// A heading that is nil is the base's; one that is there and empty takes away.
// A rule is one of the vocabulary, or "only if FACT", "when FACT, RULE",
// "unless FACT, RULE"; a fact may be "FACT or FACT". These take a number: "a
// prisoner (pass stone, button, stone in the half-pass zone) is worth ½", "3
// passes have been made in a row", "3 buttons lie on the table".
type Spec struct {
	Name   string `json:"name"`           // lower-case letters, digits and hyphens
	Title  string `json:"title"`          // "": the name
	Source string `json:"source"`         // "": the base's
	Note   string `json:"note,omitempty"` // a remark for people
	Aim    string `json:"aim,omitempty"`  // how one wins, in a sentence; "": the base's if its start, moves, agreed and count stay, else read from the count
	Pass   string `json:"pass,omitempty"` // what a pass costs, in a sentence; "": likewise, else found by passing
	Base   string `json:"base,omitempty"` // the id of a ruleset of the catalogue, "" for none
	Komi   string `json:"komi"`           // in points, "6.5"; "": the base's, else 0

	Start   []string            `json:"start,omitempty"`
	Moves   map[string][]string `json:"moves,omitempty"`  // by the kind of turn: place, pass, accept, button, delay, draw, resign, no-result
	Settle  map[string][]string `json:"settle,omitempty"` // by the action once play has stopped: dead, seki, alive, agree, resume, resign
	Agreed  []string            `json:"agreed,omitempty"`
	Count   []string            `json:"count,omitempty"`
	Say     []string            `json:"say,omitempty"`     // facts
	Closing []string            `json:"closing,omitempty"` // kinds of turns
}

// A SpecError says what is wrong with a custom ruleset, and where.
type SpecError struct {
	Name  string // of the ruleset
	Where string // "moves, pass, rule 2"
	What  string
}

// Error returns all of it in one line.
func (e *SpecError) Error() string {
	s := "custom ruleset"
	if e.Name != "" {
		s += " " + short(e.Name)
	}
	if e.Where != "" {
		s += ": " + e.Where
	}
	return s + ": " + e.What
}

// The limits of a custom ruleset.
const (
	maxName    = 30
	maxTitle   = 60
	maxProse   = 400 // of source and note
	maxRule    = 300
	maxRules   = 24 // under one heading
	maxNesting = 3
	maxStored  = 16 << 10

	customPrefix = "custom/"
)

// Custom puts a ruleset together. Its name is "custom/" and the spec's, its id
// has the hash of its whole text behind that, and no theorem speaks of it. Its
// error is a *SpecError: a rule or fact that does not exist or cannot stand
// where it does, a count of what nobody can hold, a game that cannot end, or a
// law that does not hold in one of the games that Custom plays with it.
func Custom(s Spec) (*Ruleset, error) {
	r, err := compose(s)
	if err != nil {
		return nil, err
	}
	if err := try(r); err != nil {
		return nil, &SpecError{Name: s.Name, What: err.Error()}
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r.Spec()); err != nil {
		return nil, &SpecError{Name: s.Name, What: err.Error()}
	}
	if r.seal(text.String()); len(r.Stored()) > maxStored {
		return nil, &SpecError{Name: s.Name, What: fmt.Sprintf("it is longer than %d KiB", maxStored>>10)}
	}
	return r, nil
}

// seal sets the text of a custom ruleset and the id that follows from it.
func (r *Ruleset) seal(text string) {
	r.text = strings.TrimSpace(text)
	r.id = fmt.Sprintf("%s@%x", r.Name, sha256.Sum256([]byte(r.text)))[:len(r.Name)+1+16]
}

// Stored returns the text that a game must keep of its ruleset so that [Find] returns it
// again: the id, and of a custom ruleset its whole text too, in one line.
func (r *Ruleset) Stored() string {
	if r.text == "" {
		return r.ID()
	}
	return r.id + " " + r.text
}

// IsCustom reports whether the ruleset was made by [Custom].
func (r *Ruleset) IsCustom() bool { return r.text != "" }

// findStored reads a custom ruleset from what Stored gave. It was tried when it
// was made.
func findStored(stored string) (*Ruleset, error) {
	id, text, ok := strings.Cut(stored, " ")
	bad := func(format string, args ...any) (*Ruleset, error) {
		return nil, fmt.Errorf("%w: %s: %s", ErrNoSuchRuleset, short(id), fmt.Sprintf(format, args...))
	}
	if !ok {
		return bad("a custom ruleset is found by its whole text only")
	}
	if len(stored) > maxStored {
		return bad("its text is too long")
	}
	var s Spec
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return bad("its text cannot be read: %v", err)
	}
	if s.Base != "" { // a base may change
		return bad("its text is not whole")
	}
	r, err := compose(s)
	if err != nil {
		return bad("%v", err)
	}
	if r.seal(text); r.id != id {
		return bad("its text has another hash, %s", r.id)
	}
	return r, nil
}

// Spec returns the ruleset as a spec without a base: what [Custom] makes the
// same ruleset of, if every rule is of the vocabulary.
func (r *Ruleset) Spec() Spec {
	s := Spec{Name: strings.TrimPrefix(r.Name, customPrefix), Title: r.Title, Source: r.Source, Note: r.Note, Komi: r.Komi.Decimal(),
		Start: names(r.Start), Agreed: names(r.Agreed), Count: names(r.Count)}
	if r.Aim != r.measuredAim() { // what the program finds may be worded better one day
		s.Aim = r.Aim
	}
	if r.PassCost != r.measuredPassCost() {
		s.Pass = r.PassCost
	}
	for k, rules := range r.Moves {
		put(&s.Moves, k.String(), names(rules))
	}
	for k, rules := range r.Settle {
		put(&s.Settle, k.String(), names(rules))
	}
	for _, f := range r.Say {
		s.Say = append(s.Say, f.Name)
	}
	for _, k := range r.Closing {
		s.Closing = append(s.Closing, k.String())
	}
	return s
}

func names(rules []Rule) []string {
	var out []string
	for _, r := range rules {
		out = append(out, r.Name)
	}
	return out
}

func put(m *map[string][]string, k string, v []string) {
	if *m == nil {
		*m = map[string][]string{}
	}
	(*m)[k] = v
}

// over lays the changes of s over a base.
func (s Spec) over(base Spec) Spec {
	out := s
	out.Source = cmp.Or(s.Source, base.Source+", changed")
	out.Komi = cmp.Or(s.Komi, base.Komi)
	if s.Start == nil && s.Moves == nil && s.Agreed == nil && s.Count == nil { // one wins and passes as in the base
		out.Aim, out.Pass = cmp.Or(s.Aim, base.Aim), cmp.Or(s.Pass, base.Pass)
	}
	for _, list := range []struct{ out, base *[]string }{{&out.Start, &base.Start}, {&out.Agreed, &base.Agreed},
		{&out.Count, &base.Count}, {&out.Say, &base.Say}, {&out.Closing, &base.Closing}} {
		if *list.out == nil {
			*list.out = *list.base
		}
	}
	if s.Settle == nil || len(s.Settle) > 0 {
		out.Settle = overlay(base.Settle, s.Settle)
	}
	out.Moves = overlay(base.Moves, s.Moves)
	return out
}

func overlay(base, changes map[string][]string) map[string][]string {
	out := maps.Clone(base)
	for k, v := range changes {
		put(&out, k, v)
	}
	return out
}

// A composer reads a spec.
type composer struct {
	spec  Spec
	where string
	used  map[string]bool // rules by name, without what they depend on
	gives map[Thing]bool
	err   *SpecError
}

func (c *composer) fail(format string, args ...any) {
	if c.err == nil {
		c.err = &SpecError{Name: c.spec.Name, Where: c.where, What: fmt.Sprintf(format, args...)}
	}
}

// compose reads a spec and checks it as it stands, without playing.
func compose(s Spec) (*Ruleset, error) {
	c := &composer{spec: s, used: map[string]bool{}, gives: map[Thing]bool{}}
	r := c.ruleset()
	if c.err != nil {
		return nil, c.err
	}
	return r, nil
}

func (c *composer) ruleset() *Ruleset {
	c.where = "name"
	if s := c.spec.Name; s == "" || len(s) > maxName || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || s[0] == '-' {
		c.spec.Name = "" // nothing to call it by
		c.fail("%q is not a name: 1 to %d lower-case letters, digits and hyphens", short(s), maxName)
		return nil
	}
	if c.spec.Base != "" {
		c.where = "base"
		if len(c.spec.Base) > maxName {
			c.fail("no such ruleset: %q", short(c.spec.Base))
			return nil
		}
		base, err := Find(c.spec.Base)
		if err != nil {
			c.fail("%v", err)
			return nil
		}
		c.spec = c.spec.over(base.Spec())
	}
	s := c.spec
	r := &Ruleset{Name: customPrefix + s.Name,
		Title: c.text("title", cmp.Or(s.Title, s.Name), maxTitle), Source: c.text("source", cmp.Or(s.Source, "a custom ruleset"), maxProse), Note: c.text("note", s.Note, maxProse),
		Aim: c.text("aim", s.Aim, MaxSummary), PassCost: c.text("pass", s.Pass, MaxSummary)}
	c.where = "komi"
	if komi, err := ParsePoints(cmp.Or(s.Komi, "0")); err != nil {
		c.fail("%v", err)
	} else if komi > MaxKomi || komi < -MaxKomi {
		c.fail("komi is at most %v points either way", MaxKomi)
	} else {
		r.Komi = komi
	}
	r.Start = c.list("start", s.Start, atStart)
	r.Moves = c.lists("moves", s.Moves, Place, Pass, AcceptSuggestion, Button, Delay, Draw, Resign, NoResult)
	r.Settle = c.lists("settle", s.Settle, MarkDead, MarkSeki, Unmark, AcceptScore, Resume, Resign)
	r.Agreed = c.list("agreed", s.Agreed, onAgreed)
	r.Count = c.list("count", s.Count, inCount)
	c.where = "say"
	if len(s.Say) > maxRules {
		c.fail("at most %d facts", maxRules)
		return nil
	}
	for _, name := range s.Say {
		if f, ok, _ := findCondition(c.tidy(name)); ok && f.said {
			r.Say = append(r.Say, f.Fact)
		} else {
			c.fail("%q is not a fact that can be said%s", Shorten(name, 80), didYouMean(name, factNames(0, true)))
		}
	}
	c.where = "closing"
	if len(s.Closing) > maxRules {
		c.fail("at most %d turns", maxRules)
		return nil
	}
	for _, name := range s.Closing {
		k := slices.Index(kindNames[:], name)
		if k != int(Pass) && k != int(Button) {
			c.fail("%q: only pass and button can close a game", Shorten(name, 80))
			return nil
		}
		r.Closing = append(r.Closing, Kind(k))
	}
	if c.err == nil {
		c.whole(r)
	}
	if c.err == nil {
		r.summarize()
	}
	return r
}

// whole checks the headings against each other, and adds how to resign if the
// ruleset does not say.
func (c *composer) whole(r *Ruleset) {
	if r.Moves == nil {
		r.Moves = map[Kind][]Rule{}
	}
	c.placing(r.Moves[Place])
	if len(r.Moves[Resign]) == 0 {
		r.Moves[Resign] = []Rule{ConcedeGame}
	}
	c.where = "moves, resign"
	if last := r.Moves[Resign][len(r.Moves[Resign])-1]; !last.Is(ConcedeGame) {
		c.fail("the last rule must be %q", ConcedeGame.Name)
	}
	c.where = "moves"
	stops := c.used[StopPlay.Name] || c.used[CountAllAlive.Name]
	switch {
	case !stops && !c.used[EndInDraw.Name]:
		c.fail("the game cannot end: no turn has the rule %q, as in %q", StopPlay.Name, When(TwoPasses, StopPlay).Name)
	case stops && len(r.Count) == 0:
		c.fail("play stops, but there is no count")
	case !stops && len(r.Count) > 0:
		c.fail("there is a count, but play never stops: no turn has the rule %q", StopPlay.Name)
	case !stops && (len(r.Settle) > 0 || len(r.Agreed) > 0):
		c.fail("play never stops, so settle and agreed must be empty")
	}
	if len(r.Settle) > 0 {
		c.where = "settle"
		if !c.used[AcceptMarks.Name] {
			c.fail("the game cannot end: agree needs the rule %q", AcceptMarks.Name)
		}
		if len(r.Settle[Resign]) == 0 {
			r.Settle[Resign] = []Rule{ConcedeGame}
		}
	} else if len(r.Agreed) > 0 {
		c.where = "agreed"
		c.fail("players agree on nothing, because settle is empty")
	}
	if c.where = "start"; c.gives[ButtonThing] && !c.gives[onTable] {
		c.fail("players take buttons, but none lies on the table: start needs %q", OneButton.Name)
	}
	c.where = "count"
	for _, v := range valued {
		if !c.gives[v.Thing] && slices.ContainsFunc(r.Count, func(r Rule) bool { return strings.Contains(r.Name, v.prefix) }) {
			c.fail("%s is counted, but no rule makes a player hold one", strings.TrimSuffix(v.prefix, " is worth "))
		}
	}
}

// placing checks that a placement is one: the board must stay a board.
func (c *composer) placing(rules []Rule) {
	c.where = "moves, place"
	for i, usual := range usualPlacement[:3] {
		if i >= len(rules) || !rules[i].Is(usual[0]) {
			c.fail("rule %d must be %q, as in every placement", i+1, usual[0].Name)
			return
		}
	}
	if len(rules) <= 3 || !Includes(usualPlacement[3], rules[3]) {
		c.fail("rule 4 must be %q or %q", Require(HasLiberty).Name, RemoveOwn.Name)
	}
	for i, r := range rules {
		if r.Is(PlaceStone) && i != 1 || strings.HasSuffix(r.Name, ", "+PlaceStone.Name) {
			c.fail("rule %d: a turn places one stone only", i+1)
		}
	}
	if !slices.ContainsFunc(rules, func(r Rule) bool { return Includes(usualPlacement[4], r) }) {
		c.fail("a placement needs a rule on repetition: %q, %q or %q", Require(NewPosition).Name, Require(NewSituation).Name, Require(NotKo).Name)
	}
}

// text checks prose.
func (c *composer) text(where, s string, most int) string {
	c.where = where
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		c.fail("must be one line of text")
	}
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > most {
		c.fail("must have at most %d characters", most)
	}
	return s
}

func (c *composer) lists(heading string, lists map[string][]string, allowed ...Kind) map[Kind][]Rule {
	var out map[Kind][]Rule
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		k := slices.Index(kindNames[:], name)
		if k < 0 || !slices.Contains(allowed, Kind(k)) {
			var known []string
			for _, k := range allowed {
				known = append(known, k.String())
			}
			c.where = heading
			c.fail("%q is not one of %s", Shorten(name, 80), strings.Join(known, ", "))
			return nil
		}
		if rules := c.list(heading+", "+name, lists[name], on(Kind(k))); len(rules) > 0 {
			if out == nil {
				out = map[Kind][]Rule{}
			}
			out[Kind(k)] = rules
		}
	}
	return out
}

func (c *composer) list(heading string, names []string, p place) []Rule {
	if c.where = heading; len(names) > maxRules {
		c.fail("at most %d rules", maxRules)
		return nil
	}
	var out []Rule
	for i, s := range names {
		c.where = fmt.Sprintf("%s, rule %d", heading, i+1)
		out = append(out, c.rule(c.tidy(s), p, 0))
	}
	return out
}

// tidy takes away what makes no difference to a reader.
func (c *composer) tidy(s string) string {
	if len(s) > maxRule {
		c.fail("must have at most %d characters", maxRule)
		return ""
	}
	return strings.TrimSuffix(strings.Join(strings.Fields(s), " "), ".")
}

// rule parses a rule for a place.
func (c *composer) rule(s string, p place, depth int) Rule {
	if c.err != nil {
		return Rule{}
	}
	if depth > maxNesting {
		c.fail("%q has too many conditions", Shorten(s, 80))
		return Rule{}
	}
	if rest, ok := cutPrefixFold(s, "only if "); ok {
		f := c.fact(rest, p)
		if f.Not == "" {
			f.Not = "it is not true that " + f.Name
		}
		return Require(f)
	}
	for prefix, conditional := range map[string]func(Fact, Rule) Rule{"when ": When, "unless ": Unless} {
		if rest, ok := cutPrefixFold(s, prefix); ok {
			// A fact may have a comma in its name: the longest is meant.
			at := 0
			for i := range rest {
				if strings.HasPrefix(rest[i:], ", ") {
					if _, ok, _ := findCondition(rest[:i]); ok || at == 0 {
						at = i
					}
				}
			}
			if at == 0 {
				c.fail("%q must have the form %sFACT, RULE", Shorten(s, 80), prefix)
				return Rule{}
			}
			return conditional(c.fact(rest[:at], p), c.rule(rest[at+2:], p, depth+1))
		}
	}
	w, ok, errText := findWord(s)
	switch {
	case errText != "":
		c.fail("%q: %s", Shorten(s, 80), errText)
	case !ok:
		c.fail("unknown rule %q%s", Shorten(s, 80), didYouMean(s, wordNames(p)))
	case w.places&p == 0:
		c.fail("%q does not fit here: it belongs to %s", w.Name, w.places)
	}
	c.used[w.Name] = true
	c.gives[w.gives] = true
	return w.Rule
}

func (c *composer) fact(s string, p place) Fact {
	f, ok, errText := findCondition(s)
	switch {
	case errText != "":
		c.fail("%q: %s", Shorten(s, 80), errText)
	case !ok:
		c.fail("unknown fact %q%s", Shorten(s, 80), didYouMean(s, factNames(p, false)))
	case f.places&p == 0:
		c.fail("%q cannot be a condition here%s", f.Name, f.places.asked())
	}
	return f.Fact
}

// String lists the headings of p.
func (p place) String() string {
	var out []string
	for _, k := range TurnKinds() {
		if p&on(k) != 0 {
			out = append(out, k.String())
		}
	}
	for _, x := range []struct {
		place
		name string
	}{{atStart, "start"}, {onAgreed, "agreed"}, {inCount, "count"}} {
		if p&x.place != 0 {
			out = append(out, x.name)
		}
	}
	return strings.Join(out, ", ")
}

func (p place) asked() string {
	if p == 0 {
		return ": only say may name it"
	}
	return ": it belongs to " + p.String()
}

// wordNames returns what could be meant at a place.
func wordNames(p place) []string {
	var out []string
	for _, w := range words {
		if w.places&p != 0 {
			out = append(out, w.Name)
		}
	}
	if p&inCount != 0 {
		for _, v := range valued {
			out = append(out, v.prefix+"1")
		}
	}
	if p&atStart != 0 {
		out = append(out, Buttons(3).Name)
	}
	for _, f := range factNames(p, false) {
		out = append(out, "only if "+f)
	}
	return out
}

func factNames(p place, said bool) []string {
	var out []string
	for _, f := range conditions {
		if said && f.said || f.places&p != 0 {
			out = append(out, f.Name)
		}
	}
	if p&onTurns != 0 {
		out = append(out, Passes(3).Name)
	}
	return out
}

// didYouMean returns the nearest of the names, if one is near.
func didYouMean(s string, names []string) string {
	s = strings.ToLower(s)
	var best string
	var least int
	for _, name := range names {
		if d := Distance(s, strings.ToLower(name)); best == "" || d < least {
			best, least = name, d
		}
	}
	if best == "" || least > max(len(s), len(best))*2/5 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// Distance is how many letters must be put in, taken out or changed to make b of
// a (Levenshtein); of a long a it is not computed.
func Distance(a, b string) int {
	if len(a) > maxRule {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := before
			if a[i] != b[j] {
				d = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
