package bot

// A Command is something people can ask for. Adapters turn the list into slash
// commands, typed commands and help.
type Command struct {
	Name    string // "place"; lower case, at most 32 characters
	Group   string // of help; empty: the everyday commands, which come first
	Summary string // one line, at most 100 characters
	Options []Option
}

// An OptionType is the type of an option's value, so that an adapter can offer the
// platform's own way to choose it.
type OptionType int

// The types of options.
const (
	StringOption  OptionType = iota
	PointOption              // a point of the board: D4
	IntegerOption            // a whole number
	UserOption               // a person
	BoolOption               // yes or no
	DiagramOption            // a drawing or a record, of several lines; it may come from a file
)

// An Option is an argument of a command. In typed commands options come in order or
// by name, "komi:6.5".
type Option struct {
	Name     string
	Summary  string
	Type     OptionType
	Required bool
	Rest     bool     // takes all the words that are left: a list of points
	Choices  []Choice // all there are, if they are few; at most 25
	Suggest  bool     // Service.Suggest knows what may be meant
	Whole    bool     // with Rest: it knows that for all the words together, and not for each
}
