// Package render shows a game: as a picture of the board with the ledger
// beside it, as an animation, and as text for those who hear it.
//
// Everything starts with a [Scene], a plain value that holds all that is shown:
//
//	scene := render.Of(game, render.Names{Black: "Aoi", White: "Marten"})
//	err := render.PNG(file, scene, render.Options{Theme: "wood", Size: "medium"})
//	alt := render.Text(scene) // at most 1,024 characters
//
// The same scene always makes the same bytes, from any number of goroutines.
// Pictures of one game that follow each other are drawn faster when their scenes
// name a Series: only what has changed is painted. [GIF] animates
// scenes, such as those of [Scenes].
//
// # What the picture says
//
// The last stone on the board carries a dot, and its letter and number a pill;
// the stones that it took are still there for one picture, half transparent and
// crossed out. A hollow square says that the player to move may not take there,
// because the position would repeat. While dead stones are being agreed on, and
// afterwards, those are half transparent too, and points of territory carry a
// small square. Stones marked as alive in seki carry a ring.
//
// The panel is beside the board, or under it ([Options]). It begins with the two
// players and, once play has stopped, their totals; a frame says who is to act,
// and a tick who has accepted the marks. While stones are in play the scene
// claims nothing about who leads: the headline is empty, and then the panel tells
// how to win, or it is an estimate. [EndedNow] counts all the same, for people
// who ask. Once play has stopped the headline is the margin, or on a banner the
// result. The ledger has Black's numbers on the left, White's on the right,
// labels between them. What the last turn changed stands beside the number with
// its sign. Under the rows follow the rules by which the last turn moved things
// and what the ruleset says of the position; then the lids of the bowls with
// what the players hold and what lies between them, buttons or the half-pass
// zone; then the legend, which tells what those are worth; and at the bottom the
// last turn and who is next. A comment takes the place of the legend.
//
// Each of these has a box of its own (layout.go), in which it stays through the
// whole game. Numbers have one size, which can be read on a phone; words shrink to
// leave room for them. Sentences that do not fit are left out whole, names lose
// their middle. If there are more rows than fit, those that are worth nothing go,
// and the last of the rest become one, so that the ledger still adds up.
//
// # Tables
//
// A [Chart] compares margins, a [Sheet] is the table of an event. They have the fonts and
// colours of the panel, and are as high as they must be. In a sheet each game has a sign:
// won (+), drawn (=), lost (−), in play (…), or in play and the player of the row is to
// act (▸, in a frame like that of the player to act in the panel). Beside it lies the
// player's stone, under it the margin, or in a Swiss above it the opponent's place.
//
// # Boards for pages
//
// [SVG] writes the board alone, with the same marks, for a page that has the rest in
// words and tables, and that people press on.
//
// # How it is drawn
//
// Lengths are given in units, which are the pixels of the medium picture, 960
// by 660 or, in portrait, 664 by 1064. A set of sprites (stones, shadows, marks) is drawn with package gg
// once for each theme, size and distance of lines, and kept. A picture is a
// list of ops: sprites, letters and rectangles, each with its place (displaylist.go).
// They are painted into an image of at most 192 colours, or 16, over a background
// of which the rows of the board are alike, and compressed (canvas.go, png.go). Where a
// sprite is transparent the colour is looked up in a table (palette.go).
//
// A series makes the list of the next picture and compares it with that of the
// last one. It paints only where the lists differ, by the same code and within
// clips, so that every pixel is the same as in a picture drawn from scratch
// (incremental.go). The frames of an animation come from the same comparison
// (gif.go).
//
// # How to change it
//
// A theme is a list of colours in theme.go; a test looks at it with five kinds
// of eyes. A mark is a line in Scene.marks, a sprite in newSprites and a shape in
// svg.go; a test in adapters/web compares the two. An object of the panel is a sprite in
// objects.go. A line of the ledger is a [Row], made in
// gamescene.go; what people read there comes from [Words], which has one value for
// each language, and from the rulesets. After a change look at the pictures,
// then write the golden ones anew:
//
//	go test ./render -run ContactSheet -contact sheet.png
//	go test ./render -update
package render
