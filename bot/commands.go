package bot

import (
	"strings"
	"sync"

	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
)

// game is the option by which every command about a game can name it.
var gameOption = Option{Name: "game", Summary: "The number of the game, if you have several here", Type: IntegerOption, Suggest: true}

// shareOption shows the answer to a question to everybody.
var shareOption = Option{Name: "share", Summary: "Let everybody here see the answer", Type: BoolOption}

// A handler carries out a command. A command without functions changes a game, as package
// match decides. A question only reads.
type handler struct {
	Command
	prefer   func(*task) match.Step // changes what a person or a room has chosen, and no game
	question func(q *question) outbox.Post
	changes  func(args map[string]string) bool // whether a question with these options is a change; nil: never
	noGame   bool                              // works without a game
	opens    bool                              // may open a game
}

// asks reports whether a request changes nothing.
func (h handler) asks(r Request) bool {
	return h.question != nil && (h.changes == nil || !h.changes(r.Args))
}

// given makes of a question a change if it has an option.
func given(option string) func(map[string]string) bool {
	return func(args map[string]string) bool { return args[option] != "" }
}

// readYesOrNo writes the options that take yes or no as "yes" and "no", however they were
// typed. It returns why an option is neither.
func (h handler) readYesOrNo(args map[string]string) (refusal *Text) {
	for _, o := range h.Options {
		typed := strings.ToLower(strings.TrimSpace(args[o.Name]))
		if typed == "" || o.Type != BoolOption && o.Name != "confirm" {
			continue
		}
		switch yes, known := yesOrNo[typed]; {
		case !known:
			return new(say("bad.yes", o.Name, shortened(typed)))
		case yes:
			args[o.Name] = "yes"
		default:
			args[o.Name] = "no"
		}
	}
	return nil
}

// yesOrNo are the words for yes and no.
var yesOrNo = map[string]bool{"yes": true, "y": true, "true": true, "on": true, "no": false, "n": false, "false": false, "off": false}

// The groups of commands, in the order of help. People type their names after /help; a
// text describes each.
const (
	everyday = ""
	study    = "study"
	ending   = "ending"
	timing   = "time"
	room     = "room"
)

var groups = []string{study, ending, timing, room}

// handlers returns the list of commands, in the order of help, from which every adapter
// makes its own. It is made on first use, because it contains the names of the
// languages, which most commands of the program do not need.
var handlers func() []handler

func init() { handlers = sync.OnceValue(listHandlers) }

func listHandlers() []handler {
	return []handler{
		{Command: Command{"new", everyday, "Open a game", []Option{
			{Name: "rules", Summary: "The ruleset, by default two-button", Suggest: true},
			{Name: "size", Summary: "Lines of a side, 9, or columns and rows, 9x13", Choices: sizes, Suggest: true},
			{Name: "komi", Summary: "Points for White, a multiple of ½; the ruleset has its own"},
			{Name: "handicap", Summary: "Handicap stones, 2 or more; White moves first", Type: IntegerOption},
			{Name: "placement", Summary: "fixed: on the star points; free: where Black likes", Choices: []Choice{{"On the star points", "fixed"}, {"Where Black likes", "free"}}},
			{Name: "color", Summary: "The colour you play", Choices: []Choice{{"Black", "black"}, {"White", "white"}, {"Random", "random"}}},
			{Name: "opponent", Summary: "Who may join; name yourself to play both sides", Type: UserOption},
			{Name: "hints", Summary: "Estimate the score and suggest what is dead; no: neither", Type: BoolOption},
			{Name: "clock", Summary: "Time: 3d a turn, fischer 7d+1d max 14d, byoyomi 10d 3x2d …; by default none", Rest: true, Suggest: true, Whole: true},
		}}, noGame: true, opens: true},
		{Command: Command{"join", everyday, "Take the open seat of a game", []Option{gameOption}}},
		{Command: Command{"place", everyday, "Place a stone, or your handicap stones", []Option{
			{Name: "at", Summary: "The point, a letter and a number: D4", Type: PointOption, Required: true, Rest: true, Suggest: true}, gameOption,
		}}},
		{Command: Command{"pass", everyday, "Pass", []Option{
			{Name: "dead", Summary: "Dead chains, where the ruleset asks for them: C3 D5", Rest: true, Suggest: true},
			{Name: "anyway", Summary: "Even if stones that look dead will count as alive", Type: BoolOption}, gameOption,
		}}},
		{Command: Command{"button", everyday, "Take or give the button", []Option{gameOption}}},
		{Command: Command{"delay", everyday, "Return a prisoner (Ultimate Go)", []Option{gameOption}}},
		{Command: Command{"score", everyday, "Show the score and explain it", []Option{
			gameOption,
			{Name: "why", Summary: "Explain every half point", Type: BoolOption},
			{Name: "ledger", Summary: "List everything that changed hands", Type: BoolOption},
			{Name: "theory", Summary: "Also the theorem behind the ruleset, with its algebra", Type: BoolOption}, shareOption,
		}}, question: score},
		{Command: Command{"board", everyday, "Show the board, now or after an earlier move", []Option{
			{Name: "move", Summary: "The number of the turn", Type: IntegerOption}, gameOption, shareOption,
		}}, question: board},
		{Command: Command{"undo", everyday, "Take back your last turn; after a minute, by asking", []Option{gameOption}}},
		{Command: Command{"resign", everyday, "Resign the game", []Option{
			{Name: "confirm", Summary: "yes, if you are sure"}, gameOption,
		}}},
		{Command: Command{"accept", everyday, "Accept the score, or what the other player asks", []Option{
			gameOption, {Name: "no-result", Summary: "After a repetition: accept that the game ends without a result", Type: BoolOption},
		}}},
		{Command: Command{"dead", everyday, "Mark dead stones once play has stopped; without points, all that look dead", []Option{
			{Name: "points", Summary: "A stone of each chain: C3 D5", Rest: true, Suggest: true},
			{Name: "as", Summary: "dead, alive or seki", Choices: []Choice{{"Dead", "dead"}, {"Alive", "alive"}, {"Alive in seki", "seki"}}},
			gameOption,
		}}},
		{Command: Command{"link", everyday, "Play in a browser as yourself", []Option{
			{Name: "end", Summary: "all: sign out all browsers"},
		}}, prefer: link, noGame: true},
		{Command: Command{eventName, everyday, "Organise a league, join one, see its table", []Option{
			{Name: "what", Summary: "What to do; without it: how it stands", Choices: eventChoices, Suggest: true},
			{Name: "player", Summary: "Who is meant", Type: UserOption},
			{Name: "other", Summary: "Who takes their place", Type: UserOption},
			{Name: "event", Summary: "Its number, if several", Suggest: true},
			{Name: "title", Summary: "New: its name"},
			{Name: "rules", Summary: "New: its ruleset, or several: aga, button", Suggest: true},
			{Name: "size", Summary: "New: the board", Choices: sizes, Suggest: true},
			{Name: "komi", Summary: "New: points for White"},
			{Name: "system", Summary: "New: who meets whom", Choices: []Choice{{"Groups, all play all", "groups"}, {"Round robin", "roundrobin"}, {"Swiss", "swiss"}, {"McMahon", "mcmahon"}, {"Knock-out", "knockout"}}, Suggest: true},
			{Name: "group", Summary: "New: size of a group, 4 to 8", Type: IntegerOption},
			{Name: "rounds", Summary: "New: rounds", Type: IntegerOption},
			{Name: "seats", Summary: "New: seats", Type: IntegerOption},
			{Name: "ranks", Summary: "New: players say their rank", Type: BoolOption},
			{Name: "until", Summary: "The end of the sign-up, or of all: 5d, 2026-12-20"},
			{Name: "days", Summary: "New: days"},
			{Name: "ties", Summary: "New: tie-breaks"},
			{Name: "rank", Summary: "To join: your rank, 12k"},
			{Name: "table", Summary: "Result: the table", Type: IntegerOption},
			{Name: "round", Summary: "Of which round", Type: IntegerOption},
			{Name: "as", Summary: "Result: who wins", Choices: []Choice{{"Black wins", "black"}, {"White wins", "white"}, {"A draw", "draw"},
				{"Both lose", "both-lose"}, {"It does not count", "void"}, {"Remove", "remove"},
				{"Export players, as CSV", "csv"}, {"Export games, as CSV", "games"}}, Suggest: true},
			{Name: "confirm", Summary: "yes, if you are sure"},
		}}, question: aboutEvent, changes: func(args map[string]string) bool { return contest.Changes(args["what"]) }, noGame: true},
		{Command: Command{"more", everyday, "Show what else you can do in a game", []Option{gameOption}}, question: more},
		{Command: Command{"help", everyday, "List the commands, or explain one", []Option{
			{Name: "command", Summary: "A command or a group of commands", Suggest: true},
		}}, question: help, noGame: true},

		{Command: Command{"replay", study, "Show a game as an animation", []Option{
			{Name: "from", Summary: "The first turn", Type: IntegerOption}, {Name: "to", Summary: "The last turn", Type: IntegerOption}, gameOption, shareOption,
		}}, question: replay},
		{Command: Command{"compare", study, "Count this game under every ruleset", []Option{
			{Name: "dead", Summary: "Dead chains: C3 D5", Rest: true, Suggest: true},
			{Name: "all", Summary: "Every ruleset, also those that come to the same", Type: BoolOption}, gameOption, shareOption,
		}}, question: compare},
		{Command: Command{"rules", study, "List the rulesets, or explain one", []Option{
			{Name: "name", Summary: "The ruleset", Suggest: true}, shareOption,
		}}, question: recite, noGame: true},
		{Command: Command{"demo", study, "Learn what the rules do, step by step", []Option{
			{Name: "lesson", Summary: "Which lesson; without it I list all", Suggest: true},
			{Name: "step", Summary: "Which step of it", Type: IntegerOption}, shareOption,
		}}, question: demo, noGame: true},
		{Command: Command{"show", study, "Draw a position for everybody here", []Option{
			{Name: "diagram", Summary: "Rows of .XO, a $$ diagram of Sensei's Library, or SGF", Type: DiagramOption, Required: true, Rest: true},
			{Name: "rules", Summary: "The ruleset to count it by", Suggest: true},
			{Name: "share", Summary: "no: only for you", Type: BoolOption},
		}}, question: show, noGame: true},
		{Command: Command{"setup", study, "Set up a position to try things out, playing both colours", []Option{
			{Name: "diagram", Summary: "Rows of .XO, a $$ diagram of Sensei's Library, or SGF", Type: DiagramOption, Required: true, Rest: true},
			{Name: "rules", Summary: "The ruleset, by default that of the room", Suggest: true},
		}}, noGame: true, opens: true},
		{Command: Command{"comment", study, "Comment on a move of a game that is over", []Option{
			{Name: "text", Summary: "What you want to say; it is kept in the record", Required: true, Rest: true},
			{Name: "move", Summary: "The number of the turn, by default the last", Type: IntegerOption}, gameOption,
		}}},
		{Command: Command{"read", study, "Hear in words how a game stands, without its picture", []Option{
			{Name: "what", Summary: "The last turn, the clock, a line, a chain and its liberties, or the ledger", Choices: []Choice{{"Last turn", readLast},
				{"Clock", readClock}, {"Row", readRow}, {"Column", readColumn}, {"Chain", readChain}, {"Liberties", readLiberties}, {"Ledger", readLedger}}},
			{Name: "where", Summary: "The number of a row, the letter of a column, or a point: D4", Rest: true}, gameOption,
		}}, question: readAloud},
		{Command: Command{"sgf", study, "Get the game as an SGF file", []Option{gameOption, shareOption}}, question: record},
		{Command: Command{"page", study, "Get the address of the game's page, to show it elsewhere", []Option{
			gameOption, {Name: "agree", Summary: "Agree that an older game gets a page, too", Type: BoolOption}, shareOption,
		}}, question: address, changes: given("agree")},

		{Command: Command{"resume", ending, "Go on playing after play has stopped", []Option{gameOption}}},
		{Command: Command{"dispute", ending, "Play on to see what is dead, or go back to the score", []Option{
			gameOption, {Name: "back", Summary: "Go back to the score", Type: BoolOption},
		}}},
		{Command: Command{"draw", ending, "Offer a draw; in Ultimate Go, declare it", []Option{gameOption}}},
		{Command: Command{"decline", ending, "Decline a challenge, or what the other player asks", []Option{gameOption}}},
		{Command: Command{"rematch", ending, "Play again with colours swapped", []Option{gameOption}}, opens: true},
		{Command: Command{"delete", ending, "Cancel a game that has hardly begun, or ask to delete it", []Option{
			gameOption, {Name: "confirm", Summary: "yes, if you are sure"},
			{Name: "how", Summary: "Cancel it, or forget it; by default what fits",
				Choices: []Choice{{"Cancel it: nothing counts", "cancel"}, {"Forget it: as if it had never been", "forget"}}},
		}}},

		{Command: Command{"clock", timing, "Show the clocks, or ask to stop them", []Option{
			gameOption,
			{Name: "pause", Summary: "Ask to stop the clocks; if they are stopped, let them run again", Type: BoolOption}, shareOption,
		}}, question: clocks, changes: given("pause")},
		{Command: Command{"claim", timing, "Claim the win when the other player is out of time", []Option{gameOption}}},
		{Command: Command{"remind", timing, "Choose how I remind you", []Option{
			{Name: "how", Summary: "Where", Choices: []Choice{{"In the channel", "channel"}, {"By direct message", "direct"}, {"Not at all", "none"}}},
			{Name: "quiet", Summary: "Hours without reminders, 22-7, or none"},
			{Name: "zone", Summary: "Your time zone, Europe/Paris"},
		}}, prefer: chosen(rooms.Remind), noGame: true},

		{Command: Command{"games", room, "List the games of this room, or all of yours", []Option{
			{Name: "whose", Summary: "“mine” for your games everywhere", Choices: []Choice{{"Mine", "mine"}, {"Of this room", "here"}}}, shareOption,
		}}, question: games, noGame: true},
		{Command: Command{"settings", room, "Show what new games here are like; moderators change it", []Option{
			{Name: "rules", Summary: "The ruleset of new games, or default", Suggest: true},
			{Name: "size", Summary: "The board size of new games, or default", Choices: sizes, Suggest: true},
			{Name: "theme", Summary: "The look of the pictures, or default", Choices: choicesOf(render.Themes())},
			{Name: "layout", Summary: "portrait puts the panel under the board, for phones; or default", Choices: choicesOf(render.Layouts())},
			{Name: "coordinates", Summary: "The coordinates at the edge, or default", Choices: choicesOf(render.Coordinates())},
			{Name: "undo", Summary: "Seconds in which a turn may be taken back without asking, or default"},
			{Name: "opens", Summary: "Who may open games", Choices: []Choice{{"Anyone", "anyone"}, {"Moderators", "moderators"}, {"Nobody", "nobody"}, noChoice}},
			{Name: "events", Summary: "Who may organise events here", Choices: []Choice{{"Moderators", "moderators"}, {"Anyone", "anyone"}, noChoice}},
			{Name: "hints", Summary: "Whether I estimate the score and suggest what is dead in new games", Choices: []Choice{{"On", "on"}, {"Off", "off"}, noChoice}},
			{Name: "letters", Summary: "Whether boards on Matrix are also there in letters, to unfold", Choices: []Choice{{"On", "on"}, {"Off", "off"}, noChoice}},
			{Name: "pages", Summary: "Whether games have a page: off, link for those who have its address, public for search engines too",
				Choices: []Choice{{"Off", "off"}, {"For those who have the address", "link"}, {"Public", "public"}, noChoice}},
			{Name: "language", Summary: "The language here, or with whose:mine for you alone, or default", Choices: languageChoices()},
			{Name: "whose", Summary: "“mine” for language, theme, layout and coordinates that you alone see, “server” for its channels",
				Choices: []Choice{{"Mine", "mine"}, {"Of this room", "here"}, {"Of the whole server", "server"}}},
			{Name: "clock", Summary: "The clock of new games, or default", Rest: true, Suggest: true, Whole: true},
		}}, prefer: chosen(rooms.Settings), noGame: true},
		{Command: Command{"adjudicate", room, "Decide a game that its players cannot end (moderators)", []Option{
			{Name: "as", Summary: "How", Required: true, Choices: []Choice{{"By the count", "count"}, {"Black wins", "black"}, {"White wins", "white"},
				{"A draw", "draw"}, {"Without result", "void"}}},
			{Name: "dead", Summary: "For the count, a stone of each dead chain: C3 D5", Rest: true, Suggest: true}, gameOption,
		}}},
		{Command: Command{"log", room, "See what moderators did here (moderators)", []Option{
			{Name: "page", Summary: "2 and so on: what was earlier", Type: IntegerOption},
		}}, question: moderation, noGame: true},
		{Command: Command{"privacy", room, "See what I store about you, or be forgotten", []Option{
			{Name: "what", Summary: "What to do", Choices: []Choice{{"Show it to me", "export"}, {"Forget me", "delete"}}},
			{Name: "confirm", Summary: "yes, if you are sure"},
		}}, question: privacy, noGame: true},
	}
}

// eventChoices are what people can do about an event.
var eventChoices = []Choice{
	{"See the table", "table"}, {"Join", "join"}, {"Leave", "leave"}, {"New event", "new"}, {"Publish it", "publish"},
	{"Discard it", "discard"}, {"Who is late", "late"}, {"I play the next round", "play"}, {"I sit out the next round", "sitout"}, {"See the next pairing", "pairing"},
	{"Why two met", "why"}, {"Two must meet", "meet"}, {"Two must not meet", "forbid"}, {"Swap two players", "swap"}, {"Start now", "start"}, {"Extend", "extend"}, {"Withdraw a player", "withdraw"},
	{"Replace a player", "replace"}, {"Give a result", "result"}, {"Organisers", "organiser"}, {"Call it off", "cancel"},
	{"Export", "export"},
}

// noChoice resets a setting.
var noChoice = Choice{"Default", "default"}

// choicesOf makes choices whose values are their labels, with noChoice.
func choicesOf(words []string) []Choice {
	var out []Choice
	for _, w := range words {
		out = append(out, Choice{text.Capital(w), w})
	}
	return append(out, noChoice)
}

// languageChoices returns the languages by what their speakers call them.
func languageChoices() []Choice {
	var out []Choice
	for _, l := range text.Languages() {
		out = append(out, Choice{l.Name, l.Tag})
	}
	return append(out, noChoice)
}

var sizes = []Choice{{"9×9", "9x9"}, {"13×13", "13x13"}, {"19×19", "19x19"}}

// Commands returns what people can ask for, in the order of help.
func Commands() []Command {
	all := handlers()
	cs := make([]Command, len(all))
	for i, h := range all {
		cs[i] = h.Command
	}
	return cs
}

func find(name string) (handler, bool) {
	for _, h := range handlers() {
		if h.Name == name {
			return h, true
		}
	}
	return handler{}, false
}
