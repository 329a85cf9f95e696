package discordtest_test

import (
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// FuzzMessage: whatever is sent, the double answers, and answers by the
// specification.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"content":"x"}`, `{"content":null,"embeds":[{"title":"t"}]}`, `{}`, `[]`, `null`,
		`{"content":"x","components":[{"type":1,"components":[{"type":2,"style":1,"label":"x","custom_id":"x"}]}]}`,
		`{"content":"x","components":[{"type":1,"components":[{"type":3,"custom_id":"x","options":[{"label":"a","value":"a"}]}]}]}`,
		`{"content":"<@1> <@&2> @everyone <t:1:R>","allowed_mentions":{"parse":["users"]}}`,
		`{"content":"x","nonce":5,"enforce_nonce":true,"message_reference":{"message_id":"1"}}`,
		`{"content":"x","attachments":[{"id":"12345678901"}]}`,
	} {
		f.Add(seed)
	}
	d := discordtest.New(nil, discordtest.Options{Lenient: true, Limits: discordtest.NoLimits(), Keep: 100})
	room := d.Guild("Go club").Channel("games")
	f.Cleanup(d.Close)
	b := newBot(f, d)
	b.login(object{"intents": 1 << 9})
	f.Fuzz(func(t *testing.T, body string) {
		b.t = t
		a := b.do("POST", "/channels/"+room.ID()+"/messages", body)
		if a.err != nil || a.status != 200 && a.status != 400 {
			t.Fatalf("%d %s %v", a.status, a.text, a.err)
		}
		if a.status == 200 {
			b.do("PATCH", "/channels/"+room.ID()+"/messages/"+a.id(), body)
		}
		d.Transcript()
		for _, v := range d.Violations() {
			if strings.Contains(v, "the double's own") {
				t.Error(v)
			}
		}
		d.Forget()
	})
}
