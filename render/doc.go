// Package render shows a game: as a picture of the board with the ledger
// beside it, and as text for those who hear it.
//
// Everything starts with a [Scene], a plain value that holds all that is shown:
//
//	scene := render.Of(game, render.Names{Black: "Aoi", White: "Marten"})
//	err := render.PNG(file, scene, render.Options{Theme: "wood", Size: "medium"})
//	alt := render.Text(scene) // at most 1,024 characters
//
// The same scene gives the same bytes, always, from any number of goroutines.
//
// # What the picture says
//
// The board is on the left. The last stone carries a dot, and its letter and
// number a blue pill; the stones that it took are still there for one picture,
// half transparent and crossed out. While dead stones are being agreed on, and
// afterwards, those are half transparent too, and points of territory carry a
// small square. Stones marked as alive in seki carry a ring.
//
// The panel on the right begins with the two players and their totals; a golden
// frame says who is to act. Then comes the margin, then the ledger: Black's
// numbers on the left, White's on the right, labels between them. They are
// points, so that they add up; below the total stand things that are worth
// nothing, which are simply counted. What the last turn changed stands beside
// the number, blue for more and orange for less. Under the ledger follow
// sentences of the rulebook, and at the bottom the last turn and who is next.
//
// # How it is drawn
//
// Lengths are given in units, which are the pixels of the medium picture, 960
// by 660. A kit of sprites (stones, shadows, marks) is drawn with package gg
// once for each theme, size and distance of lines, and kept; a picture then
// only copies sprites and letters into an image of at most 256 colours and
// compresses that. Where a sprite is transparent the colour is looked up in a
// table; see canvas.go, which is all there is between a scene and its bytes.
//
// # How to change it
//
// A theme is a list of colours in kit.go. A mark is a sprite in newKit and a
// line in canvas.board. A line of the ledger is a [Row], made in scene.go; what
// people read there comes from [Words], which has one value for each language,
// and from the rulebooks. After a change look at the pictures, then write the
// golden ones anew: go test ./render -update.
package render
