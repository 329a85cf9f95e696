package message_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"maunium.net/go/mautrix/crypto/attachment"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

var (
	alice = outbox.User{Platform: "matrix", ID: "@alice:example.org", Name: "Alice"}
	bob   = outbox.User{Platform: "matrix", ID: "@bob:example.org", Name: "Bob <the Stone> & Co"}
)

// content is the JSON of a message.
func content(t *testing.T, m *event.MessageEventContent) string {
	t.Helper()
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" {
		t.Error(diff)
	}
}

// What nobody is called by makes no sound, and what is plain stays plain.
func TestNotice(t *testing.T) {
	equal(t, content(t, message.Text(message.Content{Text: "Game 3 as SGF.\n   by the rule: pass & <more>"})), `
{
 "msgtype": "m.notice",
 "body": "Game 3 as SGF.\n   by the rule: pass & <more>",
 "m.mentions": {}
}`)
}

func TestCall(t *testing.T) {
	m := message.Text(message.Content{Text: "Game 3: it is your turn.\nAnswer it.", Notify: []outbox.User{bob, alice, bob}})
	equal(t, content(t, m), `
{
 "msgtype": "m.text",
 "body": "Game 3: it is your turn.\nAnswer it.\nBob <the Stone> & Co Alice",
 "format": "org.matrix.custom.html",
 "formatted_body": "Game 3: it is your turn.<br>Answer it.<br><a href=\"https://matrix.to/#/@bob:example.org\">Bob &lt;the Stone&gt; &amp; Co</a> <a href=\"https://matrix.to/#/@alice:example.org\">Alice</a>",
 "m.mentions": {
  "user_ids": [
   "@bob:example.org",
   "@alice:example.org"
  ]
 }
}`)
}

// A name of which nothing is seen calls nobody: the id does.
func TestInvisibleNames(t *testing.T) {
	for _, name := range []string{"\u200d", "\u3164\u3164", "\ufffe", "\u2800", "\ufe0f", "\u0301"} {
		if m := message.Text(message.Content{Text: "Your turn.", Notify: []outbox.User{{Platform: "matrix", ID: "@bob:example.org", Name: name}}}); m.Body != "Your turn.\n@bob:example.org" {
			t.Errorf("%q: %q", name, m.Body)
		}
	}
}

func TestPicture(t *testing.T) {
	g, err := rules.New(&rules.TwoButton, rules.Setup{W: 3, H: 2})
	if err != nil {
		t.Fatal(err)
	}
	if g, err = g.Play(rules.Turn{Kind: rules.Place, By: rules.Black, At: rules.Point{X: 1, Y: 1}}); err != nil {
		t.Fatal(err)
	}
	c := message.Content{Text: "Game 3, move 1: Black B2.\nWhite to play.", Board: render.TextBoard(render.Of(g, render.Names{})), Notify: []outbox.User{alice}, Number: 3,
		Controls: []match.Control{
			{Command: "place", Ask: "at", Args: map[string]string{"game": "3", "seq": "17"}},
			{Command: "pass", Args: map[string]string{"game": "3", "seq": "17"}},
			{Command: "score", Args: map[string]string{"game": "3"}},
		}}
	p := message.Picture{Name: "game-3-turn-1.png", Type: "image/png", W: 300, H: 200, Size: 4321, Blurhash: "U00000fQ", URL: "mxc://example.org/abc"}
	equal(t, content(t, message.File(c, p)), `
{
 "msgtype": "m.image",
 "body": "Game 3, move 1: Black B2.\nWhite to play.\nAlice\nYou can: !place … · ⏭️ !pass · 🧮 !score\n\nX Black, O White\n   A B C\n 2 . X .\n 1 . . .",
 "format": "org.matrix.custom.html",
 "formatted_body": "Game 3, move 1: Black B2.<br>White to play.<br><a href=\"https://matrix.to/#/@alice:example.org\">Alice</a><br>You can: !place … · ⏭️ !pass · 🧮 !score",
 "url": "mxc://example.org/abc",
 "info": {
  "mimetype": "image/png",
  "blurhash": "U00000fQ",
  "xyz.amorgan.blurhash": "U00000fQ",
  "w": 300,
  "h": 200,
  "size": 4321
 },
 "filename": "game-3-turn-1.png",
 "m.mentions": {
  "user_ids": [
   "@alice:example.org"
  ]
 }
}`)
	const board = "<details><summary>Game 3: the board in letters</summary><pre>X Black, O White\n   A B C\n 2 . X .\n 1 . . .</pre></details>"
	plain := message.File(c, p)
	c.Unfold = true
	if unfolds := message.File(c, p); unfolds.Body != plain.Body || unfolds.FormattedBody != plain.FormattedBody+board {
		t.Errorf("with the board to unfold: %q", unfolds.FormattedBody)
	}
	if words := message.Text(message.Content{Text: c.Text, Board: c.Board, Number: 3}); !strings.HasSuffix(words.FormattedBody, board) {
		t.Errorf("without the picture: %q", words.FormattedBody)
	}
}

// In an encrypted room the address of a file stands with its keys.
func TestEncryptedFile(t *testing.T) {
	keys := &event.EncryptedFileInfo{EncryptedFile: *attachment.NewEncryptedFile(), URL: "mxc://example.org/abc"}
	m := message.File(message.Content{Text: "Game 3 as SGF."}, message.Picture{Name: "game-3.sgf", Type: "application/x-go-sgf", Size: 99, File: keys})
	if m.MsgType != event.MsgFile || m.URL != "" || m.File != keys || m.Body != "Game 3 as SGF." || m.FileName != "game-3.sgf" || m.Info.Size != 99 || m.Info.Width != 0 || m.Mentions == nil {
		t.Errorf("%+v", m)
	}
}

func TestFile(t *testing.T) {
	for _, c := range []struct {
		name, kind  string
		msgtype     event.MessageType
		body, saved string
		animated    bool
	}{
		{"game-3.sgf", "application/x-go-sgf", "m.file", "game-3.sgf", "game-3.sgf", false},
		{"replay.gif", "image/gif", "m.image", "replay.gif", "replay.gif", true},
		{"", "image/png", "m.image", "file", "file", false},
		{"../a\nb\u202egnp.exe", "text/plain", "m.file", "..-a-bgnp.exe", "..-a-bgnp.exe", false},
	} {
		m := message.File(message.Content{}, message.Picture{Name: c.name, Type: c.kind})
		if m.MsgType != c.msgtype || m.Body != c.body || m.FileName != c.saved || m.Info.IsAnimated != c.animated || m.FormattedBody != "" || m.Mentions == nil {
			t.Errorf("%q: %+v %+v", c.name, m, m.Info)
		}
	}
}

// Rooms are links; instants stay as the bot words them.
func TestPlaces(t *testing.T) {
	m := message.Text(message.Content{Text: "Game 2 " + "\x03matrix\x06!room:example.org\x06\x04<here>\x05, until \x031795269600000\x04Sat 21 Nov, 14:00 UTC\x05; " +
		"\x03matrix\x06!room:example.org\x06$thread/1\x04there\x05; \x03discord\x06!room:example.org\x06\x04elsewhere\x05, \x03matrix\x06room:example.org\x06\x04nowhere\x05, " +
		"\x03matrix\x06!room:example.org\x06\x06!new:example.org/$first\x04a game\x05."})
	if want := "Game 2 <here>, until Sat 21 Nov, 14:00 UTC; there; elsewhere, nowhere, a game."; m.Body != want {
		t.Errorf("%q", m.Body)
	}
	if want := `Game 2 <a href="https://matrix.to/#/%21room:example.org">&lt;here&gt;</a>, until Sat 21 Nov, 14:00 UTC; ` +
		`<a href="https://matrix.to/#/%21room:example.org/$thread%2F1">there</a>; elsewhere, nowhere, ` +
		`<a href="https://matrix.to/#/%21new:example.org/$first">a game</a>.`; m.FormattedBody != want {
		t.Errorf("%q", m.FormattedBody)
	}
}

// Commands are written as they are typed here, and what only looks like one is
// left alone.
func TestTypedCommands(t *testing.T) {
	place := bot.Mention{Command: "place", Options: []bot.MentionedOption{{Name: "at", Value: "E5"}}}
	for text, want := range map[string]string{
		"Black to play: " + place.Mark(): "Black to play: !place E5",
		"such as .X./XO.":                "such as .X./XO.",
		"/pass /me //pass":               "/pass /me //pass",
		"/":                              "/", "": "",
	} {
		if got := message.Text(message.Content{Text: text}).Body; got != want {
			t.Errorf("%q reads %q, not %q", text, got, want)
		}
	}
}

// The largest board is shown whole; what is longer than an event is cut.
func TestLimits(t *testing.T) {
	g, err := rules.New(&rules.TwoButton, rules.Setup{W: 25, H: 25})
	if err != nil {
		t.Fatal(err)
	}
	board := render.TextBoard(render.Of(g, render.Names{}))
	whole := message.Text(message.Content{Board: board})
	if !strings.HasSuffix(whole.Body, "\n 1 "+strings.TrimSpace(strings.Repeat(". ", 25))) {
		t.Errorf("the board is cut:\n%s", whole.Body)
	}
	long := strings.Repeat("Everything that changed hands. ", 500) // about what the longest ledger takes
	if m := message.Text(message.Content{Text: long}); m.Body != long {
		t.Errorf("%d of %d bytes are left", len(m.Body), len(long))
	}
	for _, piece := range []string{"a", "<", "\"", "'", "&", "\n", "é", "雀", "👩‍👩‍👧", "\u202e", "\u2068", "/pass ", "\x03matrix\x06!r:example.org\x06\x04x\x05", "\xff", "\u2028", "\\"} {
		text := strings.Repeat(piece, 100_000)
		c := message.Content{Text: text, Board: text, Number: 1 << 40}
		for range 100 {
			c.Notify = append(c.Notify, outbox.User{Platform: "matrix", ID: "@" + strings.Repeat("\"", 2*len(c.Notify)) + ":example.org", Name: text[:min(len(text), 1000)]})
			c.Controls = append(c.Controls, match.Control{Command: "place", Args: map[string]string{"at": strings.Repeat("\"", len(c.Controls)%100), "game": text}})
		}
		p := message.Picture{Name: text, Type: "image/png", URL: "mxc://example.org/abc", File: &event.EncryptedFileInfo{EncryptedFile: *attachment.NewEncryptedFile()}}
		m := message.InThread(message.File(c, p), "$root", "")
		first, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		edit, err := json.Marshal(message.Edit(m, "$target"))
		if err != nil {
			t.Fatal(err)
		}
		if len(first) > maxEncrypted || len(edit) > maxEncrypted {
			t.Errorf("%q: %d bytes, %d as an edit", piece, len(first), len(edit))
		}
		if _, _, problem := read(m.FormattedBody); problem != "" {
			t.Errorf("%q: %s", piece, problem)
		}
	}
}

func TestInThread(t *testing.T) {
	for _, c := range []struct {
		what          string
		root, replyTo id.EventID
		want          string
	}{
		{"in the room", "", "", `null`},
		{"an answer in the room", "", "$asked", `{"m.in_reply_to":{"event_id":"$asked"}}`},
		{"in a thread", "$root", "", `{"rel_type":"m.thread","event_id":"$root","m.in_reply_to":{"event_id":"$root"},"is_falling_back":true}`},
		{"an answer in a thread", "$root", "$asked", `{"rel_type":"m.thread","event_id":"$root","m.in_reply_to":{"event_id":"$asked"}}`},
	} {
		m := message.Text(message.Content{Text: "Pass."})
		m.RelatesTo = &event.RelatesTo{Type: event.RelReference, EventID: "$old"}
		got, err := json.Marshal(message.InThread(m, c.root, c.replyTo).RelatesTo)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, not %s", c.what, got, c.want)
		}
	}
}

// An edit names people, and mentions nobody anew.
func TestEdit(t *testing.T) {
	m := message.Text(message.Content{Text: "Game 3: White to play.", Notify: []outbox.User{alice, bob}})
	m = message.InThread(m, "$root", "$asked")
	before := content(t, m)
	equal(t, content(t, message.Edit(m, "$status")), `
{
 "msgtype": "m.text",
 "body": "* Game 3: White to play.\nAlice Bob <the Stone> & Co",
 "format": "org.matrix.custom.html",
 "formatted_body": "* Game 3: White to play.<br><a href=\"https://matrix.to/#/@alice:example.org\">Alice</a> <a href=\"https://matrix.to/#/@bob:example.org\">Bob &lt;the Stone&gt; &amp; Co</a>",
 "m.mentions": {},
 "m.new_content": {
  "msgtype": "m.text",
  "body": "Game 3: White to play.\nAlice Bob <the Stone> & Co",
  "format": "org.matrix.custom.html",
  "formatted_body": "Game 3: White to play.<br><a href=\"https://matrix.to/#/@alice:example.org\">Alice</a> <a href=\"https://matrix.to/#/@bob:example.org\">Bob &lt;the Stone&gt; &amp; Co</a>",
  "m.mentions": {
   "user_ids": [
    "@alice:example.org",
    "@bob:example.org"
   ]
  }
 },
 "m.relates_to": {
  "rel_type": "m.replace",
  "event_id": "$status"
 }
}`)
	equal(t, content(t, m), before)

	// Of a long one, all is in the new content and only the beginning before it.
	long := strings.Repeat("Everything that changed hands. ", 1000)
	e := message.Edit(message.Text(message.Content{Text: long, Notify: []outbox.User{alice}}), "$status")
	if len(e.Body) > 2000 || !strings.HasPrefix(e.Body, "* Everything") || !strings.HasSuffix(e.Body, "…") || e.FormattedBody != "" || e.Format != "" ||
		len(e.NewContent.Body) < 15_000 || len(e.NewContent.FormattedBody) < 15_000 {
		t.Errorf("%d and %d bytes", len(e.Body), len(e.NewContent.Body))
	}
}

// The page of a board is a link that says where it leads, above the commands; where there is
// no HTML its address stands there.
func TestLink(t *testing.T) {
	m := message.Text(message.Content{Text: "5. Black E5", Notify: []outbox.User{alice}, Link: "https://go.example.org/g/a&b/9", Controls: []match.Control{{Command: "pass"}}})
	if want := "5. Black E5\nAlice\nOpen the board: https://go.example.org/g/a&b/9\nYou can: ⏭️ !pass"; m.Body != want {
		t.Errorf("%q, not %q", m.Body, want)
	}
	if want := `<br><a href="https://go.example.org/g/a&amp;b/9">Open the board</a><br>You can: ⏭️ !pass`; !strings.HasSuffix(m.FormattedBody, want) {
		t.Errorf("%q does not end with %q", m.FormattedBody, want)
	}
	if left := message.WithoutControls(m, "en"); strings.Contains(left.Body+left.FormattedBody, "!pass") || !strings.HasSuffix(left.Body, "a&b/9") {
		t.Errorf("without commands it reads %q, %q", left.Body, left.FormattedBody)
	}
}
