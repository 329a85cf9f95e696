package web

import (
	"strings"
	"unicode"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// The seats at the board, and the place beside it.
var (
	black    = outbox.User{Platform: platform, ID: "seat:black", Name: "Black"}
	white    = outbox.User{Platform: platform, ID: "seat:white", Name: "White"}
	onlooker = outbox.User{Platform: platform, ID: "onlooker", Name: "Onlooker"}
)

// sit gives who sits in a seat as the page names it: "black", "white",
// "onlooker", or "name:" and what somebody calls themselves. If nobody can, it
// says why.
func sit(seat string) (who outbox.User, problem string) {
	switch seat {
	case "black":
		return black, ""
	case "white":
		return white, ""
	case "onlooker", "":
		return onlooker, ""
	}
	name, ok := strings.CutPrefix(seat, "name:")
	if !ok {
		return onlooker, wordNoSeat
	}
	if !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
		return onlooker, wordName
	}
	name = bot.CleanName(name)
	id := strings.ToLower(name)
	for _, taken := range []string{black.Name, white.Name, onlooker.Name, "Halfpoint"} {
		if bot.Looks(name) == bot.Looks(taken) {
			return onlooker, wordTaken
		}
	}
	return outbox.User{Platform: platform, ID: "name:" + id, Name: name}, ""
}

// request makes the request of a person in this room.
func request(who outbox.User) bot.Request {
	r := bot.Request{Who: who, Where: match.Room{Platform: platform, Channel: channel}}
	if who == black || who == white {
		r.Seats = &bot.Seats{Black: black, White: white}
	}
	return r
}

// users finds the persons whom options of type User mean: the seats by their
// names, others by what they call themselves. Words that the bot knows, like
// "me", it must find in the arguments.
func users(commands []bot.Command, command string, args map[string]string) map[string]outbox.User {
	found := map[string]outbox.User{}
	for _, c := range commands {
		if c.Name != command {
			continue
		}
		for _, o := range c.Options {
			name := strings.TrimPrefix(strings.TrimSpace(args[o.Name]), "@")
			if o.Type != bot.UserOption || name == "" || strings.EqualFold(name, "me") {
				continue
			}
			who, problem := sit(strings.ToLower(name))
			if problem != "" {
				who, problem = sit("name:" + name)
			}
			if problem == "" {
				found[o.Name] = who
			}
		}
	}
	return found
}

// cleanText gives a text as others may see it: without control characters but
// line breaks, and without marks that turn the direction of what follows.
func cleanText(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s))
}
