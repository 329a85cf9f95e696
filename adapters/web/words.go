package web

// pageWords is what the page says: in room/*.js and index.html in English, elsewhere in the
// words of a language.
var pageWords = []string{
	"Skip to the message box",
	"local room",
	"The game",
	"Games",
	"Game {0}",
	"Board",
	"Talk",
	"How to play",
	"Transcript",
	"Messages",
	"No game has been played here yet.",
	"To open one, type",
	"New messages ↓",
	"Close",
	"Type a command below and press Enter. To try an example, press it first. Those in grey are for later.",
	"Choose the seat Black. Open a game on a small board.",
	"When it is your turn, place a stone: press a point of the board, or type the letter of its column and the number of its row, alone. There is no column I.",
	"Choose the seat White and answer. If you play alone, tick “Change seat after each turn”. A friend can play White from another browser.",
	"Take turns. A slip? Take your stone back.",
	"How a game ends",
	"When no turn gains anything, pass. Two passes in a row stop play.",
	"The bot marks the stones that look dead to it: stones that cannot avoid capture. To change its marks, press a group on the board, or name one stone of it.",
	"If you disagree about a group, play on.",
	"When the marks are right, both players accept, each in their own seat. Then the game is over.",
	"Who won, and why?",
	"The panel shows what each player holds. These explain the score, and show what other rules would have made of the game:",
	"Only you see the answer. To show it to everybody, press the button below it.",
	"New to Go?",
	"Black and White take turns. A turn places a stone on an empty point, where two lines cross. Stones of one colour that touch along the lines are a group. The empty points next to a group are its liberties.",
	"A group without liberties is captured: it comes off the board. You may not take the last liberty of your own group, unless that captures something. You may not repeat an earlier position.",
	"Surround empty points: at the end each is worth a point to you, and so is each stone that you have captured. Good first moves on this board are E5, C3, G3, C7 and G7. The edge is worth little at first.",
	"In Two Button Go a pass costs a point. The first pass and the last pass cost only half a point.",
	"Talking, and more commands",
	"Everybody can read what you type without a slash. When you type a command, Tab or the arrow keys choose a suggestion, and Esc closes the list.",
	"You do not see the board? Type these words, also without a slash, and only you get the answer:",
	"Records and positions",
	"New event",
	"Another language",
	"The page speaks the language of your browser. To choose another for yourself:",
	"Seat",
	"Black",
	"White",
	"Onlooker",
	"Another name…",
	"Your name",
	"Change seat after each turn",
	"Suggestions",
	"Message",
	"Add a record",
	"Send",
	"Remove",
	"That is too long: at most {0} characters.",
	"That is too long: at most {0} MB.",
	"A record goes with /show or /setup, and nothing else is drawn beside it.",
	"Press Enter to show it to everybody. To play on from it, write /setup.",
	"pasted text",
	"{0} cannot be read.",
	"The picture in full size",
	"Picture",
	"Sit as {0}",
	"{0}, /pass, or a message",
	"Write a message",
	"You are {0} now.",
	"bot",
	"Dismiss",
	"Only you can see this",
	"Full size",
	"Open the board",
	"Open the table",
	"Copy address",
	"The address is copied.",
	"In words",
	"This is an earlier board. The newest one is at the end.",
	"It is not your turn. {0}.",
	"You are watching. {0}.",
	"Press {0} again to place a stone there.",
	"Never mind",
	"Choose something first.",
	"The room does not answer. Trying again…",
	"sending…",
	"The room does not answer.",
	"Not sent: {0}",
	"Not sent yet: {0} Trying again…",
	"Try again",
	"Type your name first.",
	"Suggestions: {0}",
	"Press Enter to send it.",
	"dead",
	"alive",
}

// gameWords is what the pages of games say, in English as there.
var gameWords = []string{
	"To the room",
	"Turns",
	"Move {0} of {1}",
	"All turns",
	"This turn was taken back later.",
	"The game as it is now",
	"Address of this position",
	"What each player holds",
	"Nothing has changed hands yet.",
	"Back to the board",
	"What differs",
	"Nothing differs.",
	"differs",
	"Count this position by another ruleset",
	"Picture",
	"Your turns",
	"A stone is placed by",
	"one press with a mouse, two by touch",
	"one press",
	"two presses",
	"Show",
	"The board in letters",
	"How you see this page",
	"Keep in this browser",
	"A sound when it is my turn and I do not see this page",
	"Bring a record in SGF or a diagram of at most 2 MB: step through it, mark dead stones, count it by other rules, and share its address.",
	"A file: choose it, or drop it on this page",
	"Or a text",
	"Yours, in this browser",
	"shared",
	"How the record was read",
	"Dead stones, one of each chain, or none: a press on a stone marks its chain",
	"Anyone who has this address can see the record. It is deleted a year after the last visit.",
	"Only this browser can see the record. It is deleted after a day, unless you share it.",
	"Stop sharing",
	"Share the address",
	"Delete the record",
	"Your records",
	"Show this board on another page",
	"Open the board",
	"My games",
	"waits for you",
	"Sign out here",
}

// eventWords is what the pages of events say besides, in English as there.
var eventWords = []string{
	"All games end by {0}.",
	"Who has joined",
	"Nobody has joined yet.",
	"Waiting list",
	"Table",
	"Place",
	"Player",
	"withdrawn",
	"Games that are on",
	"Games that are over: {0}",
	"What organisers decided",
	"Your name in the room, or your seat",
	"Preview",
	"Publish",
	"My events",
}

// What the form for an event, and the files of one, are called.
const (
	wordNewEvent    = "New event"
	wordPicture     = "Picture"
	wordPlayerSheet = "Players (CSV)"
	wordGameSheet   = "Games (CSV)"
	wordAuditFile   = "Everything, to check it with halfpoint audit (JSON)"
)

// linkWords is what the page of links says besides, in English as there.
var linkWords = []string{
	"In this browser you are {0}.",
	"None of your running games has a page.",
	"This browser is not signed in. To play in it as yourself, type {0} where you play, and open the address that you get.",
	"The address that you got needs JavaScript: only a script can read its secret, so that nobody else sees it.",
}

// What that page answers, and what those answer who have no right to play any more.
const (
	wordLinkPage  = "Play in this browser as yourself"
	wordContinue  = "Continue as {0}"
	wordLinkUsed  = "This link was used or is too old. Ask for a new one where you play."
	wordSignedOut = "This browser is signed out, so nothing has changed. Ask for a new link where you play."
)

// What these pages say besides.
const (
	wordFirst       = "The start"
	wordPrevious    = "The turn before"
	wordNext        = "The next turn"
	wordNewest      = "The newest position"
	wordRules       = "Rules: {0}"
	wordYouPlay     = "You play {0}."
	wordYourTurn    = "It is your turn."
	wordSit         = "Sit as {0}"
	wordEarly       = "Most of the board is empty. Do you mean to pass?"
	wordNaming      = "Press the stones that are dead, then the same button again."
	wordOnly        = "Only {0}"
	wordTotal       = "Total"
	wordNotFound    = "There is no such page"
	wordNoPage      = "Perhaps the address is not complete, the game was deleted, or the room has switched its pages off."
	wordNotNow      = "This page cannot be shown just now. Try again in a minute."
	wordDamaged     = "What is stored of this game is damaged, so it cannot be shown. The owner of this bot has been told."
	wordRecords     = "Records and positions"
	wordZip         = "That is a ZIP archive. Unpack it, and bring a file in it."
	wordNoForm      = "That form cannot be read. Send it again."
	wordManyRecords = "You have {0} records in this browser. Delete one before you bring another."
	wordFullRecords = "There is no room for more records just now. Try again tomorrow."
)

// ownerWords is what the owner's page says, in English as there.
var ownerWords = []string{
	"Moderator of the local room",
	"You are a moderator of this room, in this browser.",
	"Release the name",
	"Release",
	"A name belongs to the browser that used it first. Release it when its owner has changed browsers or deleted their cookies: the next browser that uses the name gets it, with its games.",
	"Stop being a moderator here",
	"Owner token",
	"Become moderator",
	"This room has no moderator, because it has no owner token. Choose a secret of 16 characters or more, start Halfpoint with it in the environment as {0}, or as {1} in its configuration, and come back to this page.",
	"Back to the room",
}

// What the owner's page answers.
const (
	wordLeft        = "You are no longer a moderator in this browser."
	wordReleased    = "{0} is released: the next browser that uses the name gets it."
	wordNotReleased = "That name cannot be released."
	wordGuesses     = "Too many wrong tries. Wait {0} seconds, then try again."
	wordOwnerPage   = "Moderator"
	wordNotOwner    = "That is not the owner token."
)
