package web

import (
	"strings"
	"unicode"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
)

// The seats at the board, and the place beside it.
var (
	black    = outbox.User{Platform: platform, ID: "seat:black", Name: "Black"}
	white    = outbox.User{Platform: platform, ID: "seat:white", Name: "White"}
	onlooker = outbox.User{Platform: platform, ID: "onlooker", Name: "Onlooker"}
)

// seatWith returns the seat with an id, which several people use; nil: there is none.
func seatWith(id string) *outbox.User {
	for _, seat := range []*outbox.User{&black, &white, &onlooker} {
		if seat.ID == id {
			return seat
		}
	}
	return nil
}

// userOf returns the user of a seat as the page names it: "black", "white",
// "onlooker", or "name:" and a name. If nobody can sit there, problem says why.
func userOf(seat string) (who outbox.User, problem string) {
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
	if name = bot.CleanName(name); name == bot.CleanName("") { // nothing of it can be seen
		return onlooker, wordName
	}
	id := strings.ToLower(name)
	for _, taken := range []string{black.Name, white.Name, onlooker.Name, "Halfpoint"} {
		if rooms.Looks(name) == rooms.Looks(taken) {
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

// users returns the users that options of type User mention, by option: the seats, or
// people by their names. "me" stays an argument, which the bot understands.
func users(command string, args map[string]string) map[string]outbox.User {
	found := map[string]outbox.User{}
	c, _ := bot.FindCommand(command)
	for _, o := range c.Options {
		name := strings.TrimPrefix(strings.TrimSpace(args[o.Name]), "@")
		if o.Type != bot.UserOption || name == "" || strings.EqualFold(name, "me") {
			continue
		}
		who, problem := userOf(strings.ToLower(name))
		if problem != "" {
			who, problem = userOf("name:" + name)
		}
		if problem == "" && who != onlooker { // who cannot play
			found[o.Name] = who
		}
	}
	return found
}

// cleanText removes control characters but line breaks, and marks that change the
// direction of text.
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
