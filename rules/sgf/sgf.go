// Package sgf reads and writes game records in FF[4] of the Smart Game Format.
//
// Read takes the main line of the first game in a file, as programs and servers
// write it, and says what it had to guess or passed over; Write returns a record
// that Read and [Record.Play] turn into the same game again.
//
// # Private properties
//
// SGF knows placements and passes. Every other turn is written as a pass, so
// that other programs show one, with a private property on the same node:
//
//	XT[button]      a button is taken or given
//	XT[delay]       a delay (ultimate)
//	XT[draw]        a draw is declared (ultimate)
//	XT[resign]      the player of the node resigns, perhaps out of turn
//	XT[pass C3 D4]  a pass that names dead chains (half-pass-agreement)
//	XT[accept]      their acceptance
//	XT[resume]      play was resumed just before this turn; it may stand beside
//	                one of the others, XT[resume][button]
//
// The last node may have no turn. It says how the talk after the end of play
// stands:
//
//	XD[C3 D4]       stones marked as dead, in the coordinates of players
//	XS[E5]          stones marked as alive in seki (japanese)
//	XT[accept]      both have accepted the marks; TB and TW show the territory
//	XT[resume]      play was resumed and nobody has moved yet
//	XT[no-result]   both have accepted that there is no result (japanese)
//
// Not kept are: marks that were changed again or lay there when somebody
// resigned, the acceptance of only one player, and who it was that marked or
// resumed.
package sgf

import (
	"errors"
	"fmt"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Limits on what Read takes. Variations may nest as deep as they like.
const (
	MaxSize = 16 << 20 // bytes
	MaxText = 200      // characters kept of a name, a date and the like

	maxRU     = 16 << 10 // of the rules, which may be the whole text of a custom ruleset
	maxValues = 64 << 10 // in the main line, with the properties that Read knows: fifteen times the longest game

	maxMarks   = 16 << 10       // bytes of XD or XS: five times all points of the largest board
	maxGuarded = 1 << 20        // bytes of a record that is read again in another way
	maxRepairs = rules.MaxTurns // of Read, and as many of Mended
)

// Errors of Read for records beyond the limits.
var (
	ErrTooLarge = fmt.Errorf("the record is larger than %d MiB", MaxSize>>20)
	ErrTooLong  = fmt.Errorf("the record's game has more than %d moves, stones and marks", maxValues)
)

// Errors of Read for what is no record.
var (
	ErrNoRecord = errors.New("there is no game record in it: one begins with “(;” and a property")
	ErrCutShort = errors.New("the record ends before its first move")
)

// Info is what a record tells about a game besides the game: plain text of at
// most MaxText characters on one line each.
type Info struct {
	Black, White         string // the players, PB and PW
	BlackRank, WhiteRank string // BR and WR
	Name, Event, Round   string // GN, EV and RO
	Place, Date          string // PC and DT
	Result               string // RE as the record has it; Write uses it when the game itself has no result yet ("W+T")
	Overtime             string // OT, how much time there was, in words
	Version              string // of Halfpoint, for AP; Read leaves it empty
}

// texts returns the properties of i in the order in which they are written.
func (i *Info) texts() []infoText {
	return []infoText{
		{"PB", &i.Black}, {"BR", &i.BlackRank}, {"PW", &i.White}, {"WR", &i.WhiteRank},
		{"GN", &i.Name}, {"EV", &i.Event}, {"RO", &i.Round}, {"PC", &i.Place}, {"DT", &i.Date},
		{"OT", &i.Overtime}, {"RE", &i.Result},
	}
}

type infoText struct {
	name string
	text *string
}
