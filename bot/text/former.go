package text

// former has the words of messages that the program no longer makes. Databases may
// hold them in posts and answers, and they are read for ever, in English.
var former = map[string]string{
	"if.agreed":   "If you agree: {0} {1}{2}: {3}.",
	"illegal":     "{0}: {1}. (The rules: {2}.)",
	"missing":     "/{0} needs {1}: {2}.",
	"looks.dead":  "These stones look dead to me: {0}.",
	"looks.seki":  "These look alive in seki to me: {0}.",
	"looks.how":   "{/dead} marks it so. This is only a suggestion: you both decide.",
	"nothing":     "nothing",
	"placing":     "Black places {0} more handicap stones.",
	"placing.one": "Black places {0} more handicap stone.",
	"turn":        "Game {0}, move {1}: {2}.",
	"said":        "Game {0}: {1}.",
	"start":       "Game {0}: {1}.",
}
