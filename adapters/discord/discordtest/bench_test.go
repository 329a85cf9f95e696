package discordtest_test

import (
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// BenchmarkAnswer is what a command and its answer with a picture of 12 KB cost
// the double and a bare client together: how much of a measured time is not the
// bot's.
func BenchmarkAnswer(b *testing.B) {
	d := discordtest.New(b, discordtest.Options{Limits: discordtest.NoLimits(), Keep: 1000})
	room := d.Guild("Go club").Channel("games")
	alice := d.Guild("Go club").Member("alice")
	client := newBot(b, d)
	client.register(slash("go"))
	client.login(nil)
	data := make([]byte, 12<<10)
	for b.Loop() {
		i := alice.Slash(room, "go")
		got := client.event("INTERACTION_CREATE")
		client.hook("POST", callbackPath(got), object{"type": 4, "data": object{
			"content": "Black D4.", "attachments": []object{{"id": "0", "filename": "b.png", "description": "A board."}},
			"components": row(object{"type": 2, "style": 2, "label": "Pass", "custom_id": "p"}, object{"type": 2, "style": 4, "label": "Resign", "custom_id": "r"}),
		}}, file{"b.png", data}).want(b, 204)
		if i.Answer() == nil {
			b.Fatal("no answer")
		}
	}
}
