package matrix

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// check tests every message of the bot in a room, as somebody there has received it.
func (c *club) check(g *guest, at id.RoomID) {
	c.Helper()
	v := g.View(at)
	said := map[string]bool{}             // by the marks of posts
	reacted := map[[2]string]id.EventID{} // by event and emoji
	for _, e := range v.Events {
		if e.Sender != c.user.ID || len(e.Content) == 0 { // or it was taken back
			continue
		}
		switch e.Type {
		case "m.room.message":
			c.wellFormed(e.Content)
			if new, ok := e.Content["m.new_content"].(map[string]any); ok {
				c.wellFormed(new)
				break
			}
			mark, _ := e.Content[marker].(string)
			if mark == "" || said[mark] {
				c.Errorf("without a mark, or twice: %v", e.Content)
			}
			said[mark] = true
		case "m.reaction":
			relates, _ := e.Content["m.relates_to"].(map[string]any)
			to, _ := relates["event_id"].(string)
			key, _ := relates["key"].(string)
			if m := v.Message(id.EventID(to)); m == nil || m.Sender != c.user.ID || reacted[[2]string{to, key}] != "" {
				c.Errorf("the reaction %s to %s, twice or to what the bot has not said", key, to)
			}
			reacted[[2]string{to, key}] = e.ID
		case "m.room.redaction":
			gone := cmp.Or(e.Redacts, id.EventID(fmt.Sprint(e.Content["redacts"])))
			maps.DeleteFunc(reacted, func(_ [2]string, put id.EventID) bool { return put == gone })
		}
	}
	for _, m := range v.From(c.user.ID) {
		if m.Picture == nil {
			continue
		}
		c.pictured(g, m)
	}
}

// pictured checks that a picture has the size and type that its message names.
func (c *club) pictured(g *guest, m *matrixtest.Message) {
	if p := m.Picture; p.Name == "" || strings.HasPrefix(m.Body, p.Name) || p.Type == "image/png" && (p.Blurhash == "" || m.Body == "") {
		c.Errorf("a picture that lacks something: %+v %q", *p, m.Body)
	}
	if m.Picture.Type == "image/png" {
		g.Looks(m)
	}
}

// permitted are the tags that clients show, of those that the bot has a use for.
var permitted = []string{"a", "br", "details", "summary", "pre"}

// wellFormed checks that a message names the people whom it mentions. A message that
// mentions somebody must notify them, so it is no notice; it disturbs nobody else.
func (c *club) wellFormed(content map[string]any) {
	mentions, ok := content["m.mentions"].(map[string]any)
	users, _ := mentions["user_ids"].([]any)
	kind, _ := content["msgtype"].(string)
	switch {
	case !ok || mentions["room"] == true:
		c.Errorf("it does not say whom it calls: %v", content)
	case len(users) > 2: // the players of a game that neither of them has ended
		c.Errorf("it calls %v", users)
	case kind == "m.text" && len(users) == 0, kind == "m.notice" && len(users) > 0, !slices.Contains([]string{"m.text", "m.notice", "m.image", "m.file"}, kind):
		c.Errorf("it is %s and calls %v: %v", kind, users, content["body"])
	}
	formatted, _ := content["formatted_body"].(string)
	tokens := html.NewTokenizer(strings.NewReader(formatted))
	for tokens.Next() != html.ErrorToken {
		if token := tokens.Token(); token.Type != html.TextToken && !slices.Contains(permitted, token.Data) {
			c.Errorf("the tag %q in %s", token.Data, formatted)
		}
	}
	if body, _ := content["body"].(string); body == "" || (formatted != "") != (content["format"] == "org.matrix.custom.html") {
		c.Errorf("without a body, or with a strange format: %v", content)
	}
}
