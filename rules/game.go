package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
)

// MaxTurns is the largest number of turns of a game, and of lines of its log
// that mark stones. Resigning, accepting and resuming are always possible.
const MaxTurns = 2000

// A Phase is how far a game has come.
type Phase uint8

// The phases. A ruleset that settles nothing goes from Playing to Over.
const (
	Playing  Phase = iota
	Settling       // play has stopped; the players mark dead stones and accept
	Over
)

// String returns "playing", "settling" or "over".
func (p Phase) String() string { return [...]string{"playing", "settling", "over"}[p] }

// MarshalText writes the word for p.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// A Setup is what a game is played with besides its ruleset.
type Setup struct {
	W, H     int    // columns and rows, 1 to 25
	Komi     Points // in half points, at most 400 points either way
	Handicap int    // handicap stones, 0 or at least 2; they stand in Black
	Black    []Point
	White    []Point
	First    Color // who moves first; None leaves it to the handicap
}

// A Game is a game at one moment: its log, what lies on the board, what each
// player holds and what may be done next. It is immutable: Play returns another
// Game and leaves this one as it was, so a Game may be kept, shared and asked
// from any number of goroutines.
type Game struct {
	rules *Ruleset
	setup Setup

	board    Board
	toPlay   Color
	phase    Phase
	held     [3][held]int // by colour
	captured [3]int       // stones of each colour taken off the board
	placed   [3]int       // stones of each colour put on it, setup included

	log        []Turn
	situations []situation
	entries    []Entry

	turns     int          // turns so far
	times     [kinds]int   // of each kind
	first     [kinds]Color // who made the first of each kind
	run       int          // passes in a row up to now
	runBefore int          // passes in a row before the last turn
	table     int          // buttons nobody has taken
	bansFrom  int          // no rule on repetition forbids situations before this one
	stopped   Color        // whose turn stopped play
	notes     map[any]any  // what rulesets remember besides, by [note]; never changed, only replaced

	taken  []Point // points from which the last turn took stones
	dead   []Point // marked dead while settling, sorted
	seki   []Point // marked seki while settling, sorted
	agreed [3]bool
	result string
	why    Saying // decided it
	score  *Score

	turn     Turn   // the turn being made
	ruleName string // the rule being carried out
	because  Saying // why a rule refused

	before  *Game // the game before the last line of the log; its own before is nil
	backing *backing
}

// A backing is the memory behind the slices of a game and of the games that
// follow from it, with room to append. The first game to go on from the last
// one takes it, so that a chain of games shares one log; any other copies what
// it needs.
type backing struct {
	lines      atomic.Int64 // lines of the log in use; -1 while a game is appending
	log        []Turn
	situations []situation
	entries    []Entry
}

// unclip hands g the memory behind its slices, unless another game continues g
// already, or is about to. It reports whether g has it; then the caller must call
// clip or giveBack.
func (g *Game) unclip() bool {
	if g.backing == nil || !g.backing.lines.CompareAndSwap(int64(len(g.log)), -1) {
		return false
	}
	g.log = g.backing.log[:len(g.log)]
	g.situations = g.backing.situations[:len(g.situations)]
	g.entries = g.backing.entries[:len(g.entries)]
	return true
}

// giveBack releases the memory that unclip took, with lines of the log in use.
func (s *backing) giveBack(lines int) { s.lines.Store(int64(lines)) }

// freeze ends the making of g: the memory behind its slices goes to its backing,
// and g keeps what it has written.
func (g *Game) freeze() {
	g.backing.log, g.backing.situations, g.backing.entries = g.log, g.situations, g.entries
	g.backing.giveBack(len(g.log))
	g.clip()
}

// A situation is a position and who was to play in it.
type situation struct {
	key    uint64
	toPlay Color
	at     int // lines of the log that led to it
}

// Errors that a turn meets before any rule is asked.
var (
	ErrOver         = errors.New("the game is over")
	ErrNotYourTurn  = errors.New("it is the other player's turn")
	ErrNoSuchTurn   = errors.New("this ruleset has no such turn")
	ErrStopped      = errors.New("play has stopped")
	ErrPlaying      = errors.New("play has not stopped")
	ErrOffBoard     = errors.New("the point is not on the board")
	ErrNoSuggestion = errors.New("in this ruleset a pass does not name dead stones")
	ErrTooLong      = fmt.Errorf("a game has at most %d turns, and as many marks", MaxTurns)
)

// An Illegal turn breaks a rule, or one of the errors
// above; errors.Is finds those.
type Illegal struct {
	Move    int    // the number the turn would have had
	Turn    Turn   // what was tried
	Rule    string // the rule it breaks, as [Ruleset.Book] recites it; empty for the errors above
	Because Saying // what is wrong: "the point is not empty"
	Err     error
}

// Says returns "move 57 (White E5): the point is not empty".
func (e *Illegal) Says() Saying {
	what := any(e.Turn.Kind.String())
	if e.Turn.Kind == Place {
		what = e.Turn.At
	}
	return saying("move {0} ({1} {2}): {3}", e.Move, e.Turn.By, what, e.Because)
}

// Breaks reports whether the turn lacks a condition that the ruleset requires.
func (e *Illegal) Breaks(f Fact) bool { return e.Rule == Require(f).Name }

// Error returns what Says does, in English.
func (e *Illegal) Error() string { return e.Says().String() }

// Unwrap returns the error, if a turn broke no rule but one of the errors of
// this package.
func (e *Illegal) Unwrap() error { return e.Err }

// New starts a game. It refuses a board, komi or setup that cannot be.
func New(r *Ruleset, s Setup) (*Game, error) {
	b, err := NewBoard(s.W, s.H)
	if err != nil {
		return nil, err
	}
	if s.Komi > MaxKomi || s.Komi < -MaxKomi {
		return nil, fmt.Errorf("komi is at most %v points either way", MaxKomi)
	}
	for c, ps := range map[Color][]Point{Black: s.Black, White: s.White} {
		for _, p := range ps {
			if !b.Has(p) {
				return nil, fmt.Errorf("a setup stone is not on the board: %v", p)
			}
			if b.At(p) != None {
				return nil, fmt.Errorf("two setup stones on %v", p)
			}
			b.Put(p, c)
		}
	}
	for _, p := range slices.Concat(s.Black, s.White) {
		if b.Liberties(p) == 0 {
			return nil, fmt.Errorf("a setup stone without a liberty: %v", p)
		}
	}
	if s.Handicap < 0 || s.Handicap == 1 || s.Handicap > len(s.Black) {
		return nil, fmt.Errorf("a handicap is 2 stones or more, and all of them on the board: not %d", s.Handicap)
	}
	g := &Game{rules: r, setup: s, board: b, toPlay: s.First, turn: Turn{By: Black}}
	g.setup.Black, g.setup.White = slices.Clone(s.Black), slices.Clone(s.White)
	if g.toPlay == None {
		g.toPlay = Black
		if s.Handicap != 0 {
			g.toPlay = White
		}
	}
	g.placed[Black], g.placed[White] = len(s.Black), len(s.White)
	for _, rule := range r.Start {
		if g.ruleName = rule.Name; !rule.Do(g) {
			return nil, g.because
		}
	}
	g.remember()
	g.clip()
	return g, nil
}

// Play returns the game after t. If t is illegal it returns an *Illegal, and
// nothing has changed. The cost does not depend on how long the game is, except
// where g has been played on from before: then the log is copied.
func (g *Game) Play(t Turn) (*Game, error) {
	next := *g
	shared := next.unclip()
	if err := next.play(t); err != nil {
		if shared {
			g.backing.giveBack(len(g.log))
		}
		return nil, err
	}
	next.before = g.alone()
	if !shared {
		next.backing = &backing{}
	}
	next.freeze()
	return &next, nil
}

// Allows reports whether t may be played now.
func (g *Game) Allows(t Turn) bool {
	_, ok := g.try(t)
	return ok
}

// try reports whether t may be played, and how far the game would then have come.
func (g *Game) try(t Turn) (Phase, bool) {
	next := *g
	if next.unclip() {
		defer g.backing.giveBack(len(g.log))
	}
	err := next.play(t)
	return next.phase, err == nil
}

// Before returns the game before the last line of the log, or nil if the log is
// empty.
func (g *Game) Before() *Game { return g.before }

// alone returns g without the game before it, so that a game does not keep all
// games before it in memory.
func (g *Game) alone() *Game {
	if g.before == nil {
		return g
	}
	alone := *g
	alone.before = nil
	return &alone
}

// Replay folds a log into a game. If a turn is illegal it returns the game
// before that turn and the *Illegal.
func Replay(r *Ruleset, s Setup, log []Turn) (*Game, error) {
	g, err := New(r, s)
	if err != nil {
		return nil, err
	}
	return g.Replay(log)
}

// Replay plays a log on from g, with one copy for the whole of it. If a turn is
// illegal it returns the game before that turn and the *Illegal.
func (g *Game) Replay(log []Turn) (*Game, error) {
	b := g.build(len(log))
	for i, t := range log {
		if i == len(log)-1 {
			b.before = b.now
		}
		if err := b.now.play(t); err != nil {
			before, _ := g.Replay(log[:i])
			return before, err
		}
	}
	return b.Game(), nil
}

// A Builder plays turns one after another without a copy of the game for each.
// It is not for concurrent use.
type Builder struct {
	now, before Game
}

// Build returns a builder that plays on from g.
func (g *Game) Build() *Builder { return g.build(0) }

func (g *Game) build(turns int) *Builder {
	b := &Builder{now: *g}
	b.now.log = append(make([]Turn, 0, len(g.log)+turns), g.log...)
	b.now.situations = append(make([]situation, 0, len(g.situations)+turns), g.situations...)
	if g.before != nil {
		b.before = *g.before
	}
	return b
}

// Play makes a turn. If it is illegal Play returns an *Illegal, and the builder
// is of no further use.
func (b *Builder) Play(t Turn) error {
	b.before = b.now
	return b.now.play(t)
}

// Phase and ToPlay are those of the game as it stands; see [Game].
func (b *Builder) Phase() Phase  { return b.now.Phase() }
func (b *Builder) ToPlay() Color { return b.now.ToPlay() }

// Game returns the game as it stands. The builder is of no further use.
func (b *Builder) Game() *Game {
	g := b.now
	if g.before = nil; len(g.log) > 0 {
		before := b.before
		before.before, before.backing = nil, nil
		before.clip()
		g.before = &before
	}
	g.backing = &backing{}
	g.freeze()
	return &g
}

// At returns the game as it stood after n turns, before marks and acceptances; n is cut
// to the turns there are. It replays the log.
func (g *Game) At(n int) *Game {
	start, _ := New(g.rules, g.setup)
	end, turns := 0, 0
	for end < len(g.log) && turns < n {
		if g.log[end].Kind.IsTurn() {
			turns++
		}
		end++
	}
	at, err := start.Replay(g.log[:end])
	if err != nil {
		panic("rules: a game does not replay: " + err.Error())
	}
	return at
}

// play makes t on g itself, which nobody else may hold. After an error g is
// spoiled, but what it shares with other games is not.
func (g *Game) play(t Turn) error {
	illegal := &Illegal{Move: g.turns + 1, Turn: t}
	refuse := func(err error) error {
		illegal.Err, illegal.Because = err, saying(err.Error())
		return illegal
	}
	if t.By != Black && t.By != White {
		return refuse(ErrNoSuchTurn)
	}
	if g.phase == Over {
		return refuse(ErrOver)
	}
	if t.Kind < Resign && g.turns >= MaxTurns || t.Kind.marks() && g.times[MarkDead]+g.times[MarkSeki]+g.times[Unmark] >= MaxTurns {
		return refuse(ErrTooLong)
	}
	list := g.rules.Moves[t.Kind]
	if g.phase == Settling {
		list = g.rules.Settle[t.Kind]
	}
	if len(list) == 0 {
		switch {
		case !g.rules.Has(t.Kind):
			return refuse(ErrNoSuchTurn)
		case g.phase == Settling:
			return refuse(ErrStopped)
		}
		return refuse(ErrPlaying)
	}
	inTurn := t.Kind.IsTurn() && t.Kind != Resign
	if inTurn && t.By != g.toPlay {
		return refuse(ErrNotYourTurn)
	}
	outside := func(p Point) bool { return !g.board.Has(p) }
	if t.Kind == Place && outside(t.At) || slices.ContainsFunc(t.Dead, outside) {
		return refuse(ErrOffBoard)
	}
	if t.Kind == Pass && len(t.Dead) > 0 && len(g.rules.Moves[AcceptSuggestion]) == 0 {
		return refuse(ErrNoSuggestion)
	}
	t = t.tidy()
	g.turn, g.because, g.taken = t, Saying{}, nil
	g.log = append(g.log, t)
	if g.times[t.Kind]++; g.times[t.Kind] == 1 {
		g.first[t.Kind] = t.By
	}
	if t.Kind.IsTurn() {
		g.turns++
		g.runBefore = g.run
		if t.Kind == Pass || t.Kind == AcceptSuggestion {
			g.run++
		} else {
			g.run = 0
		}
	}
	if inTurn {
		g.toPlay = t.By.Opponent()
	}
	for i := range list {
		g.ruleName = list[i].Name
		if !list[i].Do(g) {
			illegal.Rule, illegal.Because = list[i].Name, g.because
			return illegal
		}
	}
	if inTurn {
		g.remember()
	}
	return nil
}

// remember adds the situation now to those that repetition asks about.
func (g *Game) remember() {
	g.situations = append(g.situations, situation{g.board.key, g.toPlay, len(g.log)})
}

// clip keeps later games from writing into what this one holds.
func (g *Game) clip() {
	g.log = slices.Clip(g.log)
	g.situations = slices.Clip(g.situations)
	g.entries = slices.Clip(g.entries)
}

// boardAt returns the board after the first n lines of the log. Only a key that
// has been seen before asks for it.
func (g *Game) boardAt(n int) Board {
	b, _ := NewBoard(g.setup.W, g.setup.H)
	for _, p := range g.setup.Black {
		b.Put(p, Black)
	}
	for _, p := range g.setup.White {
		b.Put(p, White)
	}
	for _, t := range g.log[:n] {
		if t.Kind == Place {
			b.Play(t.At, t.By)
		}
	}
	return b
}

// give moves n of a thing to a player, or from them when n is negative, and
// writes it into the ledger with the rule being carried out.
func (g *Game) give(c Color, t Thing, n int) {
	if n == 0 {
		return
	}
	g.held[c][t] += n
	g.entries = append(g.entries, Entry{g.turns, c, t, n, g.ruleName})
}

// Rules returns the ruleset of the game.
func (g *Game) Rules() *Ruleset { return g.rules }

// Setup returns what the game began with. Its slices are not to be changed.
func (g *Game) Setup() Setup { return g.setup }

// Board returns the board as it lies, dead stones included.
func (g *Game) Board() Board { return g.board }

// ToPlay returns the player whose turn it is; while play is stopped the opponent of the
// player who made the last turn, whom most resumptions let move; None when the game is over.
func (g *Game) ToPlay() Color {
	if g.phase == Over {
		return None
	}
	return g.toPlay
}

// Phase tells how far the game has come.
func (g *Game) Phase() Phase { return g.phase }

// Log returns everything that was done, in order. It is not to be changed.
func (g *Game) Log() []Turn { return g.log }

// Turns returns the number of turns so far.
func (g *Game) Turns() int { return g.turns }

// LastTurn returns the last turn, and whether there is one.
func (g *Game) LastTurn() (Turn, bool) {
	for i := len(g.log) - 1; i >= 0; i-- {
		if g.log[i].Kind.IsTurn() {
			return g.log[i], true
		}
	}
	return Turn{}, false
}

// Entries returns the whole ledger, oldest first. It is not to be changed.
func (g *Game) Entries() []Entry { return g.entries }

// EntriesOf returns the entries of one turn; 0 is the start of the game.
func (g *Game) EntriesOf(move int) []Entry {
	var out []Entry
	for _, e := range g.entries {
		if e.Move == move {
			out = append(out, e)
		}
	}
	return out
}

// Holds returns how many of a thing a player holds.
func (g *Game) Holds(c Color, t Thing) int {
	if t >= held {
		return 0
	}
	return g.held[c][t]
}

// Captured returns how many stones of colour c have been taken off the board.
func (g *Game) Captured(c Color) int { return g.captured[c] }

// Taken returns the points from which the last turn took stones.
func (g *Game) Taken() []Point { return g.taken }

// onlySinceResumption reports whether play was resumed and all turns since are of these
// kinds.
func (g *Game) onlySinceResumption(kinds ...Kind) bool {
	for _, t := range slices.Backward(g.log) {
		if t.Kind == Resume {
			return true
		}
		if t.Kind.IsTurn() && !slices.Contains(kinds, t.Kind) {
			return false
		}
	}
	return false
}

// Times returns how often a kind of turn has been made.
func (g *Game) Times(k Kind) int { return g.times[k] }

// Table returns how many buttons nobody has taken yet.
func (g *Game) Table() int { return g.table }

// Dead returns the stones marked as dead, sorted, while settling and after.
func (g *Game) Dead() []Point { return g.dead }

// Seki returns the stones marked as alive in seki.
func (g *Game) Seki() []Point { return g.seki }

// HasAgreed reports whether a player has accepted the marks as they are.
func (g *Game) HasAgreed(c Color) bool { return g.agreed[c] }

// Result returns "" until the game is over, then what SGF writes: "B+2.5",
// "W+R", "0", "Draw", "Void".
func (g *Game) Result() string { return g.result }

// Decided returns what decided the game.
func (g *Game) Decided() Saying { return g.why }

// Says returns the facts of the ruleset that the table should hear now.
func (g *Game) Says() []string {
	var out []string
	if g.phase == Over {
		return nil
	}
	switch phase, ok := g.try(Turn{Kind: Pass, By: g.toPlay}); {
	case ok && phase == Over:
		out = append(out, "one more pass ends the game")
	case ok && phase == Settling:
		out = append(out, "one more pass stops play")
	}
	for _, f := range g.rules.Say {
		if f.Is(g) {
			out = append(out, f.Name)
		}
	}
	return out
}

// Legal returns every turn that may be made now: placements by point from A1,
// then pass, accept, button, delay, draw and resign. It returns no suggestions
// of dead stones and nothing of the talk after the end of play.
func (g *Game) Legal() []Turn {
	if g.phase != Playing {
		return nil
	}
	own, done := g.own()
	defer done()
	out := own.placements()
	for k := Pass; k <= Resign; k++ {
		if t := (Turn{Kind: k, By: g.toPlay}); g.rules.Has(k) && own.allows(t) {
			out = append(out, t)
		}
	}
	return out
}

// own returns g with memory behind its slices that nobody else appends to until done is
// called, so that many turns can be tried with one copy.
func (g *Game) own() (own Game, done func()) {
	own = *g
	if own.unclip() {
		return own, func() { g.backing.giveBack(len(g.log)) }
	}
	own.log = append(make([]Turn, 0, len(g.log)+1), g.log...)
	own.situations = append(make([]situation, 0, len(g.situations)+1), g.situations...)
	own.entries = append(make([]Entry, 0, len(g.entries)+4), g.entries...)
	return own, func() {}
}

// allows is Allows for a game that [Game.own] has made.
func (g *Game) allows(t Turn) bool {
	next := *g
	return next.play(t) == nil
}

// placements returns the placements that the player to move may make, of a game that
// [Game.own] has made. One that takes nothing, has a liberty beside it and leaves a
// position with a new key needs no trial where placing is as usual.
func (g *Game) placements() (out []Turn) {
	usual := g.phase == Playing && g.turns < MaxTurns && g.rules.placesAsUsual()
	var before map[uint64]bool
	if usual {
		before = make(map[uint64]bool, len(g.situations))
		for _, s := range g.situations[min(g.bansFrom, len(g.situations)):] {
			before[s.key] = true
		}
	}
	b := g.board
	for _, p := range g.board.Points() {
		if g.board.At(p) != None {
			continue
		}
		t := Turn{Kind: Place, By: g.toPlay, At: p}
		if usual && b.quiet(b.index(p), g.toPlay, before) || g.allows(t) {
			out = append(out, t)
		}
	}
	return out
}

// placesAsUsual reports whether the rules of placing are those of [Placement] or
// [PlacementWithSuicide].
func (r *Ruleset) placesAsUsual() bool {
	list := r.Moves[Place]
	for i, rule := range list {
		if i >= len(usualPlacement) || !Includes(usualPlacement[i], rule) {
			return false
		}
	}
	return len(list) == len(usualPlacement)
}

// usualPlacement holds, rule by rule, what a usual placement may say.
var usualPlacement = [][]Rule{
	{Require(PointIsEmpty)}, {PlaceStone}, {CaptureSurrounded}, {Require(HasLiberty), RemoveOwn},
	{Require(NewPosition), Require(NewSituation), Require(NotKo)},
}

// Proof returns 16 hexadecimal digits over the board, the side to move, what is
// held and the phase. It is stored with each line of a log: a later program
// that folds the log to something else must notice. The same game gives the
// same proof for ever.
func (g *Game) Proof() string {
	h := mix(g.board.key ^ uint64(g.toPlay)<<8 ^ uint64(g.phase))
	for _, c := range []Color{Black, White} {
		for _, n := range g.held[c] {
			h = mix(h ^ uint64(n))
		}
	}
	return fmt.Sprintf("%016x", h)
}

func itoa(n int) string { return strconv.Itoa(n) }
