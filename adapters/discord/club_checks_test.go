package discord

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// check is what holds after everything that happens in a club.
func (c *club) check() {
	for _, r := range c.d.Requests("") {
		c.manners(r)
	}
	log := c.log.String()
	if strings.Contains(log, c.d.Token()) {
		c.Error("the bot's token is in the log")
	}
	if strings.Contains(log, "aW50ZXJhY3Rpb246") {
		c.Error("the token of an interaction is in the log")
	}
}

// manners: whatever has a text says whom it may call, and interactions are
// answered without the bot's token.
func (c *club) manners(r discordtest.Request) {
	body := r.Body
	if data, ok := body["data"].(map[string]any); ok {
		body = data
	}
	if _, ok := body["content"]; ok || body["components"] != nil && body["custom_id"] == nil {
		allowed, ok := body["allowed_mentions"].(map[string]any)
		parse, isList := allowed["parse"].([]any)
		if !ok || !isList || len(parse) > 0 {
			c.Errorf("%s may call anybody: %v", r.Route, body)
		}
	}
	if r.Body == nil {
		return
	}
	open := strings.Contains(r.Route, "/callback") || strings.Contains(r.Route, "/webhooks/")
	if open == r.Authorized {
		c.Errorf("%s is authorized: %v", r.Route, r.Authorized)
	}
}

func count(ms []*discordtest.Message, has func(*discordtest.Message) bool) int {
	n := 0
	for _, m := range ms {
		if has(m) {
			n++
		}
	}
	return n
}

// says makes a condition of a part of what a message says.
func says(text string) func(*discordtest.Message) bool {
	return func(m *discordtest.Message) bool { return strings.Contains(m.Content, text) }
}

func withPicture(m *discordtest.Message) bool { return len(m.Attachments) > 0 }

// linkTo is what somebody reads whose answer is elsewhere.
func (c *club) linkTo(m *discordtest.Message) string {
	return "See https://discord.com/channels/" + c.guild.ID() + "/" + m.ChannelID + "/" + m.ID
}

func opt(name string, value any) discordtest.Option { return discordtest.Opt(name, value) }

// begin opens a small game between Alice and Bob, and gives its thread.
func (c *club) begin(t *testing.T, more ...discordtest.Option) *discordtest.Channel {
	t.Helper()
	n := len(c.room.Threads())
	c.ok(c.alice.Slash(c.room, "new", append(more, opt("size", "5x5"))...))
	// Where the answer took long it is Alice's alone, and this is for everybody.
	c.ok(c.bob.Press(c.shows(c.room, "Anyone can play"), "Join"))
	thread := c.room.WaitThread(n)
	if thread == nil {
		t.Fatalf("no thread\n%s\n%s", c.d.Transcript(), c.log.String())
	}
	c.shows(thread, " to play, for example ")
	return thread
}

// place has somebody place a stone and returns the board that shows it there.
func (c *club) place(who *discordtest.Person, in *discordtest.Channel, at string, more ...discordtest.Option) *discordtest.Message {
	c.Helper()
	c.ok(who.Slash(in, "place", append(more, opt("at", at))...))
	return c.shows(in, " "+at)
}

// notice delivers a post to a place, each time another, as the first attempt.
func (c *club) notice(where match.Room, change ...func(*outbox.Post)) error {
	c.notices++
	p := outbox.Post{ID: fmt.Sprint("notice-", c.notices), Where: where, Kind: match.Notice, Game: "g", Text: "something", Attempt: 1}
	for _, change := range change {
		change(&p)
	}
	_, _, err := c.a.Deliver(c.Context(), p)
	return err
}

// where is a channel, and a thread in it, as the bot knows it.
func (c *club) where(ch *discordtest.Channel, thread ...*discordtest.Channel) match.Room {
	r := match.Room{Platform: Name, Channel: ch.ID()}
	for _, t := range thread {
		r.Thread = t.ID()
	}
	return r
}

// shows waits until the newest message of a channel says something.
func (c *club) shows(ch *discordtest.Channel, text string) *discordtest.Message {
	c.Helper()
	ok := ch.Wait(func(ms []*discordtest.Message) bool {
		return len(ms) > 0 && strings.Contains(ms[len(ms)-1].Content, text)
	})
	if !ok {
		c.Fatalf("nothing says %q\n%s\n%s", text, c.d.Transcript(), c.log.String())
	}
	return ch.Last()
}
