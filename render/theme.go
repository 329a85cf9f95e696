package render

// A theme is the colours of a picture.
type theme struct {
	wood        [2]rgb // the lightest and the darkest of the grain
	line, label rgb
	shadow      rgb
	flat        bool    // discs instead of stones, without shadows
	lineWidth   float64 // in parts of the distance of lines

	blackStone, whiteStone rgb
	rim, blackRim          rgb // round a white stone, round a black one; of flat stones
	mark                   rgb // on white stones and on the board: blue, not red, which is lost on wood to many eyes
	markOnBlack            rgb // on black stones, inside a ring of onMark
	onMark                 rgb
	pill, onPill           rgb // behind the coordinates of the last stone, and what is written there

	panel, footer, rule    rgb
	text, dim, faint       rgb
	gain, loss             rgb
	due                    rgb // round the tile of the player to act
	banner, onBanner       rgb // of the result
	blackTile, blackBorder rgb
	whiteTile, whiteBorder rgb
	bowl, bowlRim          rgb
	button, buttonEdge     rgb
	few                    []rgb // all colours of a flat theme, at most 16; nil: they are found
}

// darkPanel glares in no room; it is the panel of wood, slate and contrast.
var darkPanel = theme{
	panel: hex(0x23211F), footer: hex(0x37332E), rule: hex(0x4A4641),
	text: hex(0xF4F1EA), dim: hex(0xAEA69B), faint: hex(0x857E75),
	gain: hex(0x6FBBFF), loss: hex(0xFFAE5C), due: hex(0xF2B53C), banner: hex(0xF2B53C), onBanner: hex(0x1B1710),
	blackTile: hex(0x0D0D0F), blackBorder: hex(0x55504A),
	whiteTile: hex(0xF4F1EA), whiteBorder: hex(0xC9C3B8),
	bowl: hex(0x3A2413), bowlRim: hex(0x7A4F2A), button: hex(0xE0A92E), buttonEdge: hex(0x6B4A0A),
}

var lightPanel = theme{
	panel: hex(0xF5F1E8), footer: hex(0xE5DFD2), rule: hex(0xC9C1B1),
	text: hex(0x1E1B17), dim: hex(0x645D53), faint: hex(0x8A8276),
	gain: hex(0x0B55C4), loss: hex(0x9A4300), due: hex(0xB87400), banner: hex(0x23211F), onBanner: hex(0xF5F1E8),
	blackTile: hex(0x17171A), blackBorder: hex(0x17171A),
	whiteTile: hex(0xFFFFFF), whiteBorder: hex(0x9C9486),
	bowl: hex(0x5A391D), bowlRim: hex(0x9A6A3A), button: hex(0xD79E22), buttonEdge: hex(0x6B4A0A),
}

// with returns a theme with the colours of another's panel.
func (t theme) with(p theme) theme {
	t.panel, t.footer, t.rule, t.text, t.dim, t.faint = p.panel, p.footer, p.rule, p.text, p.dim, p.faint
	t.gain, t.loss, t.due, t.banner, t.onBanner = p.gain, p.loss, p.due, p.banner, p.onBanner
	t.blackTile, t.blackBorder, t.whiteTile, t.whiteBorder = p.blackTile, p.blackBorder, p.whiteTile, p.whiteBorder
	t.bowl, t.bowlRim, t.button, t.buttonEdge = p.bowl, p.bowlRim, p.button, p.buttonEdge
	return t
}

// wood is a board of kaya with stones of slate and shell.
var wood = theme{
	wood: [2]rgb{hex(0xE6BB74), hex(0xDAAA60)}, line: hex(0x4A2E12), shadow: hex(0x241203), label: hex(0x5A3A18),
	lineWidth:  0.045,
	blackStone: hex(0x17171A), whiteStone: hex(0xF7F5EF), rim: hex(0x8E877C),
	mark: hex(0x0B5CD5), markOnBlack: hex(0x3E9BFF), onMark: hex(0xFFFFFF),
	pill: hex(0x0B5CD5), onPill: hex(0xFFFFFF),
}

// slate is a board that does not shine in the night.
var slate = theme{
	wood: [2]rgb{hex(0x626C76), hex(0x5B656F)}, line: hex(0x191F25), shadow: hex(0x080A0C), label: hex(0xECF1F5),
	lineWidth:  0.045,
	blackStone: hex(0x17171A), whiteStone: hex(0xF7F5EF), rim: hex(0x8E877C),
	mark: hex(0x0B5CD5), markOnBlack: hex(0x5AAAFF), onMark: hex(0xFFFFFF),
	pill: hex(0x9AD2FF), onPill: hex(0x0A1826),
}

// book is printed in black on white paper.
var book = theme{
	wood: [2]rgb{hex(0xFFFFFF), hex(0xFFFFFF)}, line: hex(0x111111), label: hex(0x333333), flat: true,
	lineWidth:  0.04,
	blackStone: hex(0x111111), whiteStone: hex(0xFFFFFF), rim: hex(0x111111), blackRim: hex(0x111111),
	mark: hex(0x111111), markOnBlack: hex(0xFFFFFF), onMark: hex(0x111111),
	pill: hex(0x111111), onPill: hex(0xFFFFFF),
	panel: hex(0xFFFFFF), footer: hex(0xEEEEEE), rule: hex(0x999999),
	text: hex(0x111111), dim: hex(0x555555), faint: hex(0x888888),
	gain: hex(0x111111), loss: hex(0x333333), due: hex(0x777777), banner: hex(0x111111), onBanner: hex(0xFFFFFF),
	blackTile: hex(0x111111), blackBorder: hex(0x111111), whiteTile: hex(0xFFFFFF), whiteBorder: hex(0x111111),
	bowl: hex(0xDDDDDD), bowlRim: hex(0x333333), button: hex(0xFFFFFF), buttonEdge: hex(0x111111),
	few: []rgb{hex(0x111111), hex(0x222222), hex(0x333333), hex(0x444444), hex(0x555555), hex(0x666666), hex(0x777777), hex(0x888888),
		hex(0x999999), hex(0xAAAAAA), hex(0xBBBBBB), hex(0xCCCCCC), hex(0xDDDDDD), hex(0xEEEEEE), hex(0xFFFFFF)},
}

// contrast has no two colours beside each other that are hard to tell apart:
// the board is as far from black as it is from white.
var contrast = theme{
	wood: [2]rgb{hex(0xB07F32), hex(0xB07F32)}, line: hex(0x000000), label: hex(0x000000), flat: true,
	lineWidth:  0.07,
	blackStone: hex(0x000000), whiteStone: hex(0xFFFFFF), rim: hex(0x000000), blackRim: hex(0xFFFFFF),
	mark: hex(0x0040B0), markOnBlack: hex(0x66C2FF), onMark: hex(0x000000),
	pill: hex(0x00235F), onPill: hex(0xFFFFFF),
	panel: hex(0x000000), footer: hex(0x222222), rule: hex(0x8A8A8A),
	text: hex(0xFFFFFF), dim: hex(0xDADADA), faint: hex(0xA8A8A8),
	gain: hex(0x66C2FF), loss: hex(0xFFC800), due: hex(0xFFC800), banner: hex(0xFFC800), onBanner: hex(0x000000),
	blackTile: hex(0x000000), blackBorder: hex(0x8A8A8A), whiteTile: hex(0xFFFFFF), whiteBorder: hex(0xFFFFFF),
	bowl: hex(0x222222), bowlRim: hex(0xDADADA), button: hex(0xFFC800), buttonEdge: hex(0x000000),
	few: []rgb{hex(0x000000), hex(0x222222), hex(0x555555), hex(0x8A8A8A), hex(0xA8A8A8), hex(0xDADADA), hex(0xFFFFFF),
		hex(0xB07F32), hex(0x584019), hex(0xD8BF99), hex(0x0040B0), hex(0x00235F), hex(0x66C2FF), hex(0x0073E6), hex(0xFFC800), hex(0x806400)},
}

// contrastLight is the light panel of contrast.
var contrastLight = theme{
	panel: hex(0xFFFFFF), footer: hex(0xDADADA), rule: hex(0x555555),
	text: hex(0x000000), dim: hex(0x222222), faint: hex(0x555555),
	gain: hex(0x0040B0), loss: hex(0x584019), due: hex(0x0073E6), banner: hex(0x000000), onBanner: hex(0xFFFFFF),
	blackTile: hex(0x000000), blackBorder: hex(0x000000), whiteTile: hex(0xFFFFFF), whiteBorder: hex(0x000000),
	bowl: hex(0xDADADA), bowlRim: hex(0x222222), button: hex(0xFFC800), buttonEdge: hex(0x000000),
}

// bookDark is the dark panel of book.
var bookDark = theme{
	panel: hex(0x222222), footer: hex(0x333333), rule: hex(0x777777),
	text: hex(0xFFFFFF), dim: hex(0xBBBBBB), faint: hex(0x999999),
	gain: hex(0xFFFFFF), loss: hex(0xDDDDDD), due: hex(0xDDDDDD), banner: hex(0xFFFFFF), onBanner: hex(0x111111),
	blackTile: hex(0x111111), blackBorder: hex(0x777777), whiteTile: hex(0xFFFFFF), whiteBorder: hex(0xBBBBBB),
	bowl: hex(0x444444), bowlRim: hex(0xBBBBBB), button: hex(0xFFFFFF), buttonEdge: hex(0x111111),
}

// A look is a theme with a panel.
type look struct{ theme, panel string }

// looks are all themes with both panels. The second name of Panels means the theme's
// own choice.
var looks = map[look]*theme{}

func init() {
	add := func(name string, board, dark, light theme, own string) {
		d, l := board.with(dark), board.with(light)
		looks[look{name, "dark"}], looks[look{name, "light"}] = &d, &l
		looks[look{name, ""}] = looks[look{name, own}]
	}
	add("wood", wood, darkPanel, lightPanel, "dark")
	add("book", book, bookDark, book, "light")
	add("slate", slate, darkPanel, lightPanel, "dark")
	add("contrast", contrast, contrast, contrastLight, "dark")
}

// Themes returns the names that Options.Theme takes.
func Themes() []string { return []string{"wood", "book", "slate", "contrast"} }

// formerThemes are names that themes had.
var formerThemes = map[string]string{"dark": "slate", "paper": "book"}

// Sizes returns the names that Options.Size takes.
func Sizes() []string { return []string{"small", "medium", "large"} }

// Coordinates returns the names that Options.Coordinates takes.
func Coordinates() []string { return []string{"letters", "numbers", "kanji", "none"} }
