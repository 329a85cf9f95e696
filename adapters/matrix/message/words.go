package message

// The adapter's own words in its messages.
const (
	wordBoard     = "The board in letters"
	wordBoardOf   = "Game {0}: the board in letters"
	wordChart     = "The table in letters"
	wordControls  = "You can: {0}"
	wordMore      = "…" // to be typed instead
	wordOpen      = "Open the board"
	wordOpenTable = "Open the table"
	wordBetween   = " · "
)
