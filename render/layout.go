package render

import "image"

// A layout is where things lie on a picture, in units, which are the pixels of the
// medium size. The boxes of a layout lie apart from each other, and a game never
// moves them: what has nothing to show leaves its box empty.
type layout struct {
	wide, high  int // even at every scale
	scale       int // in quarters, whatever the size; 0: that of the size
	board       image.Rectangle
	tiles       [3]image.Rectangle // of the players, by colour
	headlineBox image.Rectangle    // or the banner of the result
	captionBox  image.Rectangle    // one line
	ledgerBox   image.Rectangle    // rows, and the sentences under them
	tableBox    image.Rectangle    // bowls, buttons, the half-pass zone; empty: they are not drawn
	legendBox   image.Rectangle    // what those are worth
	footerBox   image.Rectangle    // the last turn
	number      int                // size of the numbers: 11 pixels high where the picture is 350 wide, a card 500
	total       int                // size of the totals
}

// layouts are all layouts by their names. The panel stands on the right of the
// board, or under it, for the narrow screens of phones. A card is for the preview of a
// link, which shows it at less than half its size: large letters, and no bowls, which
// say again what the ledger says.
var layouts = map[string]*layout{
	"landscape": {
		wide: 960, high: 660,
		board:       image.Rect(0, 0, 660, 660),
		tiles:       [3]image.Rectangle{black: image.Rect(675, 13, 807, 111), white: image.Rect(815, 13, 947, 111)},
		headlineBox: image.Rect(675, 119, 947, 165),
		captionBox:  image.Rect(675, 166, 947, 190),
		ledgerBox:   image.Rect(675, 192, 947, 398),
		tableBox:    image.Rect(675, 400, 947, 480),
		legendBox:   image.Rect(675, 482, 947, 572),
		footerBox:   image.Rect(675, 576, 947, 648),
		number:      44,
		total:       52,
	},
	"portrait": {
		wide: 664, high: 1064,
		board:       image.Rect(0, 0, 664, 660),
		tiles:       [3]image.Rectangle{black: image.Rect(14, 672, 204, 762), white: image.Rect(460, 672, 650, 762)},
		headlineBox: image.Rect(212, 672, 452, 718),
		captionBox:  image.Rect(212, 724, 452, 762),
		ledgerBox:   image.Rect(14, 776, 356, 984),
		tableBox:    image.Rect(378, 776, 650, 856),
		legendBox:   image.Rect(378, 862, 650, 984),
		footerBox:   image.Rect(14, 990, 650, 1050),
		number:      30,
		total:       42,
	},
	"card": {
		wide: 800, high: 420, scale: 6,
		board:       image.Rect(0, 0, 420, 420),
		tiles:       [3]image.Rectangle{black: image.Rect(434, 10, 606, 94), white: image.Rect(614, 10, 786, 94)},
		headlineBox: image.Rect(434, 100, 786, 140),
		captionBox:  image.Rect(434, 140, 786, 162),
		ledgerBox:   image.Rect(434, 164, 786, 292),
		legendBox:   image.Rect(434, 296, 786, 340),
		footerBox:   image.Rect(434, 346, 786, 412),
		number:      30,
		total:       42,
	},
}

// Layouts returns the layouts that people may choose. Options.Layout takes "card", too,
// which is the same for everybody.
func Layouts() []string { return []string{"landscape", "portrait"} }

// middle returns the middle of a box.
func middle(r image.Rectangle) (x, y int) { return (r.Min.X + r.Max.X) / 2, (r.Min.Y + r.Max.Y) / 2 }
