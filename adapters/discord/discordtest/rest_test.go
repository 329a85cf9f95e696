package discordtest_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// routes as the double names them.
const (
	sendRoute = "POST /channels/{channel_id}/messages"
	editRoute = "PATCH /channels/{channel_id}/messages/{message_id}"
)

func picture(width, height int) []byte {
	var b bytes.Buffer
	png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)))
	return b.Bytes()
}

func (s *stage) messages() string { return "/channels/" + s.room.ID() + "/messages" }

// TestWhatAMessageMayBe holds each documented limit from both sides.
func TestWhatAMessageMayBe(t *testing.T) {
	s := newStage(t, discordtest.Options{Lenient: true})
	x := func(n int) string { return strings.Repeat("é", n) }
	button := func(more object) object {
		o := object{"type": 2, "style": 1, "label": "Go", "custom_id": "go"}
		for key, v := range more {
			if v == nil {
				delete(o, key)
			} else {
				o[key] = v
			}
		}
		return o
	}
	menu := func(more object) object {
		o := object{"type": 3, "custom_id": "menu", "options": []object{{"label": "a", "value": "a"}, {"label": "b", "value": "b"}}}
		for key, v := range more {
			o[key] = v
		}
		return o
	}
	rows := func(n int) []object {
		var list []object
		for i := range n {
			list = append(list, row(button(object{"custom_id": fmt.Sprint("r", i)}))...)
		}
		return list
	}
	attached := func(alt string, ids ...any) object {
		list := []object{}
		for _, id := range ids {
			list = append(list, object{"id": id, "filename": "a.png", "description": alt})
		}
		return object{"content": "x", "attachments": list}
	}
	one := file{"a.png", picture(3, 2)}
	var eleven []file
	for range 11 {
		eleven = append(eleven, one)
	}
	for _, c := range []struct {
		name  string
		body  object
		files []file
		where string // of the error; "" when it is welcome
	}{
		{"2000 letters", object{"content": x(2000)}, nil, ""},
		{"2001 letters", object{"content": x(2001)}, nil, "content"},
		{"a misspelt field", object{"contnet": "x"}, nil, "_errors"},
		{"a flag that cannot be set", object{"content": "x", "flags": 1}, nil, "flags"},
		{"a silent message", object{"content": "x", "flags": 1 << 12}, nil, ""},
		{"an ephemeral message", object{"content": "x", "flags": 64}, nil, "flags"},
		{"no nonce to enforce", object{"content": "x", "enforce_nonce": true}, nil, "nonce"},
		{"mentions both ways", object{"content": "x", "allowed_mentions": object{"parse": []string{"users"}, "users": []string{"1"}}}, nil, "allowed_mentions"},
		{"nulls", object{"content": "x", "embeds": nil, "components": nil, "allowed_mentions": nil, "flags": nil, "nonce": nil}, nil, ""},
		{"a whole number as nonce", object{"content": "x", "nonce": 12, "enforce_nonce": true}, nil, ""},
		{"an embed", object{"embeds": []object{{"title": "x"}}}, nil, "embeds"},
		{"5 rows", object{"content": "x", "components": rows(5)}, nil, ""},
		{"6 rows", object{"content": "x", "components": rows(6)}, nil, "components"},
		{"a button and a menu", object{"content": "x", "components": row(button(nil), menu(nil))}, nil, "components.0.components"},
		{"two of one custom_id", object{"content": "x", "components": row(button(nil), button(nil))}, nil, "components.0.components.1.custom_id"},
		{"a button without custom_id", object{"content": "x", "components": row(button(object{"custom_id": nil}))}, nil, "components.0.components.0.custom_id"},
		{"a link with custom_id", object{"content": "x", "components": row(button(object{"style": 5, "url": "https://example.org"}))}, nil, "components.0.components.0.url"},
		{"a link to a file", object{"content": "x", "components": row(button(object{"style": 5, "url": "ftp://example.org", "custom_id": nil}))}, nil, "components.0.components.0.url"},
		{"a link to a host that only this machine knows", object{"content": "x", "components": row(button(object{"style": 5, "url": "http://localhost:8080/g/x", "custom_id": nil}))}, nil, "components.0.components.0.url"},
		{"a link that is too long", object{"content": "x", "components": row(button(object{"style": 5, "url": "https://example.org/" + strings.Repeat("x", 493), "custom_id": nil}))}, nil, "components.0.components.0.url"},
		{"a link", object{"content": "x", "components": row(button(object{"style": 5, "url": "https://example.org", "custom_id": nil}))}, nil, ""},
		{"a button without label", object{"content": "x", "components": row(button(object{"label": nil}))}, nil, "components.0.components.0.label"},
		{"a button with an emoji", object{"content": "x", "components": row(button(object{"label": nil, "emoji": object{"name": "⚫"}}))}, nil, ""},
		{"a misspelt field of a button", object{"content": "x", "components": row(button(object{"customid": "x"}))}, nil, "components.0.components.0"},
		{"more than there are", object{"content": "x", "components": row(menu(object{"max_values": 3}))}, nil, "components.0.components.0.max_values"},
		{"one option twice", object{"content": "x", "components": row(menu(object{"options": []object{{"label": "a", "value": "a"}, {"label": "b", "value": "a"}}}))}, nil, "components.0.components.0.options.1.value"},

		{"a container", object{"content": "x", "components": []object{{"type": 17, "components": row(button(nil))}}}, nil, "components.0.type"},

		{"a picture", attached(x(1024), "0"), []file{one}, ""},
		{"a number for an id", attached("alt", 0), []file{one}, ""},
		{"a picture that is not there", attached("alt", "0", "1"), []file{one}, "attachments.1.id"},
		{"a picture that is not listed", attached("alt", "0"), []file{one, one}, "attachments"},
		{"a picture listed twice", attached("alt", "0", "0"), []file{one}, "attachments.1.id"},
		{"10 pictures", object{"content": "x"}, eleven[:10], ""},
		{"11 pictures", object{"content": "x"}, eleven, "files"},
		{"a picture alone", object{}, []file{one}, ""},
	} {
		a := s.b.do("POST", s.messages(), c.body, c.files...)
		if c.where == "" {
			if a.status != 200 {
				t.Errorf("%s: %d %s", c.name, a.status, a.text)
			}
			continue
		}
		if a.status != 400 || a.code() != 50035 {
			t.Errorf("%s: %d %s", c.name, a.status, a.text)
			continue
		}
		at, _ := a.object["errors"].(object)
		for _, step := range strings.Split(c.where, ".") {
			if next, ok := at[step].(object); ok {
				at = next
			} else if step != "_errors" || at[step] == nil {
				t.Errorf("%s: no error at %s: %s", c.name, c.where, a.text)
				break
			}
		}
	}
	s.b.do("POST", s.messages(), object{"content": ""}).want(t, 400, 50006)
	s.b.do("POST", s.messages(), object{"content": "  \n"}).want(t, 400, 50006)
	s.b.do("POST", s.messages(), "{").want(t, 400, 50109)
	s.b.do("POST", s.messages(), object{}, file{"a.bin", make([]byte, 10<<20+1)}).want(t, 413, 40005)
	s.b.do("POST", s.messages(), object{}, slices.Repeat([]file{{"a.bin", make([]byte, 9<<20)}}, 3)...).want(t, 413, 40005)
}

func TestWhatACommandMayBe(t *testing.T) {
	s := newStage(t, discordtest.Options{Lenient: true})
	path := "/applications/" + s.d.Application() + "/commands"
	option := func(name string, more object) object {
		o := object{"type": 3, "name": name, "description": "d"}
		for key, v := range more {
			o[key] = v
		}
		return o
	}
	sub := func(kind int, name string, options ...object) object {
		o := object{"type": kind, "name": name, "description": "d"}
		if len(options) > 0 {
			o["options"] = options
		}
		return o
	}
	subs := func(n int) (list []object) {
		for i := range n {
			list = append(list, sub(1, fmt.Sprint("c", i)))
		}
		return list
	}
	named := func(n int, kind int) []object {
		var list []object
		for i := range n {
			c := object{"name": fmt.Sprint("c", i), "type": kind}
			if kind == 1 {
				c["description"] = "d"
			}
			list = append(list, c)
		}
		return list
	}
	of := func(options ...object) []object { return []object{slash("go", options...)} }
	long := func(n int) []object {
		var list []object
		for i := range n {
			list = append(list, object{"name": fmt.Sprintf("%03d%s", i, strings.Repeat("x", 97)), "value": fmt.Sprintf("%03d%s", i, strings.Repeat("x", 97))})
		}
		return list
	}
	for _, c := range []struct {
		name string
		list []object
		ok   bool
	}{
		{"good", of(option("at", object{"required": true}), option("why", nil)), true},
		{"capitals", []object{slash("Go")}, false},
		{"a space", []object{slash("go on")}, false},
		{"a dash", []object{slash("two-button")}, true},
		{"another script", []object{slash("置く")}, true},
		{"33 letters", []object{slash(strings.Repeat("x", 33))}, false},
		{"no description", []object{{"name": "go"}}, false},
		{"a name twice", []object{slash("go"), slash("go")}, false},
		{"a name twice, of different kinds", append(of(), object{"name": "go", "type": 3}), true},
		{"a message command", []object{{"name": "Show as a Go board", "type": 3}}, true},
		{"a message command described", []object{{"name": "Show", "type": 3, "description": "d"}}, false},
		{"100 commands", named(100, 1), true},
		{"101 commands", named(101, 1), false},
		{"15 message commands", named(15, 3), true},
		{"16 message commands", named(16, 3), false},
		{"required after optional", of(option("a", nil), option("b", object{"required": true})), false},
		{"an option twice", of(option("a", nil), option("a", nil)), false},
		{"an option in capitals", of(option("At", nil)), false},
		{"choices and autocompletion", of(option("a", object{"autocomplete": true, "choices": []object{{"name": "x", "value": "x"}}})), false},
		{"25 choices", of(option("a", object{"choices": long(25)})), true},
		{"more than 8000 letters", of(option("a", object{"choices": long(25)}), option("b", object{"choices": long(25)})), false},
		{"a choice of 101", of(option("a", object{"choices": []object{{"name": "x", "value": strings.Repeat("x", 101)}}})), false},
		{"localised", []object{{"name": "go", "description": "d", "name_localizations": object{"de": "los"}, "description_localizations": object{"de": "Los"}}}, true},
		{"localised in capitals", []object{{"name": "go", "description": "d", "name_localizations": object{"de": "Los"}}}, false},
		{"permissions as text", []object{{"name": "go", "description": "d", "default_member_permissions": "32"}}, true},
		{"a subcommand", of(sub(1, "a", option("at", nil))), true},
		{"a subcommand in a group", of(sub(2, "tree", sub(1, "a")), sub(1, "b")), true},
		{"a subcommand beside an option", of(sub(1, "a"), option("at", nil)), false},
		{"a subcommand twice", of(sub(1, "a"), sub(1, "a")), false},
		{"a subcommand in capitals", of(sub(1, "A")), false},
		{"a subcommand in a subcommand", of(sub(1, "a", sub(1, "b"))), false},
		{"a group in a group", of(sub(2, "a", sub(2, "b", sub(1, "c")))), false},
		{"25 subcommands", of(subs(25)...), true},
		{"26 subcommands", of(subs(26)...), false},
		{"more than 8000 letters in subcommands", of(sub(1, "a", option("a", object{"choices": long(25)})), sub(1, "b", option("b", object{"choices": long(25)}))), false},
		{"a misspelt field", []object{{"name": "go", "description": "d", "integration_type": []int{0}}}, false},
	} {
		a := s.b.do("PUT", path, c.list)
		if a.status == 200 != c.ok || !c.ok && a.code() != 50035 {
			t.Errorf("%s: %d %.300s", c.name, a.status, a.text)
		}
	}
	// Ids are kept, guild commands are apart.
	first := s.b.do("PUT", path, of()).want(t, 200).list[0].(object)
	second := s.b.do("PUT", path, of()).want(t, 200).list[0].(object)
	if first["id"] != second["id"] || first["version"] == second["version"] {
		t.Errorf("registered again: %v, %v", first, second)
	}
	guild := "/applications/" + s.d.Application() + "/guilds/" + s.club.ID() + "/commands"
	if g := s.b.do("PUT", guild, []object{{"name": "test", "description": "d"}}).want(t, 200).list[0].(object); g["guild_id"] != s.club.ID() {
		t.Errorf("a guild's command is %v", g)
	}
	if n := len(s.b.do("GET", path, nil).want(t, 200).list); n != 1 {
		t.Errorf("%d global commands", n)
	}
	s.b.do("PUT", "/applications/1/commands", of()).want(t, 404, 10002)
	if i := s.alice.Slash(s.room, "test"); i.Refused() != nil {
		t.Error(i.Refused())
	}
}

// Of new commands Discord takes 200 a day in each place; a change of a command is none,
// but for a change of its name.
func TestCreationsOfCommands(t *testing.T) {
	s := newStage(t, discordtest.Options{Limits: &discordtest.Limits{Creations: discordtest.Rate{N: 3, Per: 24 * time.Hour}}, Lenient: true})
	everywhere := "/applications/" + s.d.Application() + "/commands"
	put := func(path string, status int, description string, names ...string) {
		t.Helper()
		list := []object{}
		for _, name := range names {
			list = append(list, object{"name": name, "description": description})
		}
		var codes []int
		if status == 429 {
			codes = []int{30034}
		}
		s.b.do("PUT", path, list).want(t, status, codes...)
	}
	s.d.Advance(24 * time.Hour) // the stage has made some
	put(everywhere, 200, "d", "a", "b")
	for range 5 {
		put(everywhere, 200, "another", "a", "b")
	}
	put(everywhere, 200, "d", "a", "c")
	put(everywhere, 429, "d", "a", "d")
	if n := len(s.b.do("GET", everywhere, nil).want(t, 200).list); n != 2 {
		t.Errorf("%d commands are left", n)
	}
	put(everywhere, 200, "d", "a")
	put(everywhere, 429, "d", "a", "c") // it was there before
	put("/applications/"+s.d.Application()+"/guilds/"+s.club.ID()+"/commands", 200, "d", "a", "b", "c")
	s.d.Advance(24 * time.Hour)
	put(everywhere, 200, "d", "a", "c")
}

func TestPicturesAndTheirEdits(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	a := s.b.do("POST", s.messages(), object{"content": "x", "attachments": []object{
		{"id": "0", "description": "First."}, {"id": "1", "description": "Second."}}},
		file{"a.png", picture(30, 20)}, file{"b.txt", []byte("b")}).want(t, 200)
	first := a.object["attachments"].([]any)[0].(object)
	if first["width"] != 30.0 || first["height"] != 20.0 || first["description"] != "First." || first["content_type"] != "image/png" {
		t.Errorf("the picture is %v", first)
	}
	download := func() (int, []byte) {
		got, err := s.b.http.Get(first["url"].(string))
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		data, _ := io.ReadAll(got.Body)
		return got.StatusCode, data
	}
	if _, data := download(); !bytes.Equal(data, picture(30, 20)) {
		t.Error("the picture has changed on its way")
	}
	edit := func(leaves string, body object, files ...file) {
		s.b.do("PATCH", s.messages()+"/"+a.id(), body, files...).want(t, 200)
		var list []string
		for _, f := range s.room.Last().Attachments {
			list = append(list, f.Name+" "+f.Alt)
		}
		if got := strings.Join(list, ", "); got != leaves {
			t.Errorf("after %v there are %q, not %q", body, got, leaves)
		}
	}
	edit("a.png First., b.txt Second.", object{"content": "y"})
	edit("a.png Still first., c.png ", object{"attachments": []object{{"id": first["id"], "description": "Still first."}, {"id": "0", "filename": "c.png"}}}, file{"c.png", picture(1, 1)})
	edit("", object{"attachments": []object{}})
	if status, _ := download(); status != 404 {
		t.Error("a file that is gone is still served")
	}
	edit("", object{"content": nil, "components": row(object{"type": 2, "style": 1, "label": "x", "custom_id": "x"})})
	if m := s.room.Last(); m.Content != "" || len(m.Controls) != 1 || m.Edits != 4 {
		t.Errorf("the message is %+v", m)
	}
	s.b.do("PATCH", s.messages()+"/"+a.id(), object{"components": []object{}}).want(t, 400, 50006)
}

// TestWhomAMessagePings: without allowed_mentions everybody whom it names;
// with them those alone; an edit, a private or a silent message nobody.
func TestWhomAMessagePings(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	carol := s.club.Member("carol")
	content := fmt.Sprintf("<@%s> <@!%s>", s.alice.ID(), s.bob.ID())
	for _, c := range []struct {
		name    string
		body    object
		pings   []string
		mention int
	}{
		{"nothing said", object{}, []string{"alice", "bob"}, 2},
		{"nobody", object{"allowed_mentions": object{"parse": []string{}}}, nil, 0},
		{"alice", object{"allowed_mentions": object{"parse": []string{}, "users": []string{s.alice.ID(), carol.ID()}}}, []string{"alice"}, 1},
		{"people", object{"allowed_mentions": object{"parse": []string{"users"}}}, []string{"alice", "bob"}, 2},
		{"silently", object{"flags": 1 << 12}, nil, 2},
	} {
		c.body["content"] = content
		s.b.do("POST", s.messages(), c.body).want(t, 200)
		if m := s.room.Last(); !reflect.DeepEqual(m.Pings, c.pings) || len(m.Mentions) != c.mention {
			t.Errorf("%s: pings %v, mentions %v", c.name, m.Pings, m.Mentions)
		}
	}
	a := s.b.do("POST", s.messages(), object{"content": "x"}).want(t, 200)
	s.b.do("PATCH", s.messages()+"/"+a.id(), object{"content": content}).want(t, 200)
	if m := s.room.Last(); m.Pings != nil || len(m.Mentions) != 2 {
		t.Errorf("an edit pings %v", m.Pings)
	}
	if n := len(s.alice.Pinged()); n != 3 {
		t.Errorf("alice was pinged %d times", n)
	}
	if !strings.Contains(s.d.Transcript(), "Halfpoint: @alice @bob\n    (pings alice)\n") {
		t.Errorf("the transcript is\n%s", s.d.Transcript())
	}
}

func TestOneNonceIsOneMessage(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	body := object{"content": "x", "nonce": "n", "enforce_nonce": true}
	a := s.b.do("POST", s.messages(), body).want(t, 200)
	if again := s.b.do("POST", s.messages(), body).want(t, 200); again.id() != a.id() {
		t.Error("sent twice")
	}
	if len(s.room.Messages()) != 1 || s.room.Last().Nonce != "n" {
		t.Errorf("there are %d messages", len(s.room.Messages()))
	}
	if s.b.do("POST", s.messages(), object{"content": "x", "nonce": "n"}).want(t, 200).id() == a.id() {
		t.Error("a nonce that is not enforced was")
	}
	s.d.Advance(time.Hour)
	if s.b.do("POST", s.messages(), body).want(t, 200).id() == a.id() {
		t.Error("a nonce is remembered for ever")
	}
}

func TestThreads(t *testing.T) {
	s := newStage(t, discordtest.Options{Lenient: true})
	a := s.b.do("POST", s.messages(), object{"content": "A challenge."}).want(t, 200)
	thread := s.b.do("POST", s.messages()+"/"+a.id()+"/threads", object{"name": "Two Button", "auto_archive_duration": 60}).want(t, 201)
	if thread.id() != a.id() || s.room.Threads()[0].Name() != "Two Button" {
		t.Errorf("the thread is %s", thread.text)
	}
	s.b.do("POST", s.messages()+"/"+a.id()+"/threads", object{"name": "Again"}).want(t, 400, 160004)
	s.b.do("GET", s.messages(), nil).want(t, 200) // with its thread
	path := "/channels/" + thread.id()
	inside := s.b.do("POST", path+"/messages", object{"content": "Hello <@" + s.bob.ID() + ">"}).want(t, 200)
	t1 := s.room.Threads()[0]
	// An archived thread cannot be edited in, wakes by a message or on demand.
	t1.Archive()
	s.b.do("PATCH", path+"/messages/"+inside.id(), object{"content": "x"}).want(t, 400, 50083)
	second := s.b.do("POST", path+"/messages", object{"content": "To be deleted."}).want(t, 200)
	t1.Archive()
	s.b.do("DELETE", path+"/messages/"+second.id(), nil).want(t, 204)
	s.b.do("POST", path+"/messages", object{"content": "Wake up."}).want(t, 200)
	if t1.Archived() {
		t.Error("a message does not wake a thread")
	}
	// A command opens it, too; a locked one stays closed.
	t1.Archive()
	if s.alice.Slash(t1, "go"); t1.Archived() {
		t.Error("a command does not wake a thread")
	}
	s.b.event("INTERACTION_CREATE")
	t1.LockOpen()
	s.b.do("POST", path+"/messages", object{"content": "x"}).want(t, 400, 160005)
	s.b.do("PATCH", path+"/messages/"+inside.id(), object{"content": "x"}).want(t, 400, 160005)
	t1.Lock()
	s.b.do("DELETE", path+"/messages/"+inside.id(), nil).want(t, 400, 50083)
	s.b.do("POST", path+"/messages", object{"content": "Wake up."}).want(t, 400, 50083)
	i := s.alice.Slash(t1, "go")
	got := s.b.event("INTERACTION_CREATE")
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": "x"}}).want(t, 400, 50083)
	s.b.hook("POST", callbackPath(got), object{"type": 5}).want(t, 400, 50083)
	if s.d.Advance(4 * time.Second); !i.Failed() {
		t.Error("alice was not told that it failed")
	}
	s.club.BotPermissions(discordtest.Everyone | discordtest.ManageThreads)
	s.b.do("POST", path+"/messages", object{"content": "Wake up."}).want(t, 200)
	forum := s.club.Forum("matches")
	post := s.alice.Open(forum, "An evening", "Hello")
	s.b.do("POST", "/channels/"+post.ID()+"/messages", object{"content": "Good evening."}).want(t, 200)
	s.b.do("POST", "/channels/"+forum.ID()+"/messages", object{"content": "x"}).want(t, 400, 50008)
}

// Whoever has started a thread names and archives it, and moderators do; a locked one they
// alone, and an archived one must be opened. A third name within ten minutes is one too
// many, of which no header has warned.
// Of messages older than an hour few may be edited at once, and no header says how many.
func TestEditsOfOldMessages(t *testing.T) {
	s := newStage(t, discordtest.Options{Limits: discordtest.DefaultLimits(), Lenient: true})
	path := s.messages() + "/" + s.b.do("POST", s.messages(), object{"content": "A challenge."}).want(t, 200).id()
	edit := func(status int, code ...int) {
		t.Helper()
		s.b.do("PATCH", path, object{"content": "x"}).want(t, status, code...)
	}
	for range 4 {
		edit(200)
	}
	s.d.Advance(time.Hour + time.Second)
	for range 3 {
		edit(200)
	}
	edit(429, 30046)
	s.d.Advance(20 * time.Second)
	edit(200)
}

func TestEditThread(t *testing.T) {
	limits := discordtest.DefaultLimits()
	s := newStage(t, discordtest.Options{Limits: limits, Lenient: true})
	a := s.b.do("POST", s.messages(), object{"content": "A challenge."}).want(t, 200)
	path := "/channels/" + s.b.do("POST", s.messages()+"/"+a.id()+"/threads", object{"name": "Two Button"}).want(t, 201).id()
	own := s.room.Threads()[0]
	s.b.do("PATCH", path, object{"name": "Two Button · B+5", "archived": true}).want(t, 200)
	if own.Name() != "Two Button · B+5" || !own.Archived() {
		t.Errorf("the thread is %q, archived %v", own.Name(), own.Archived())
	}
	s.b.do("PATCH", path, object{"name": "x", "archived": true}).want(t, 400, 50083)
	s.b.do("PATCH", path, object{"name": "x"}).want(t, 400, 50083)
	s.b.do("PATCH", path, object{"archived": false, "name": "2"}).want(t, 200)
	warned := s.b.do("PATCH", path, object{"archived": false}).want(t, 200) // this names nothing
	if left := warned.header.Get("X-RateLimit-Remaining"); left == "0" {
		t.Error("a header warns")
	}
	late := s.b.do("PATCH", path, object{"name": "3"}).want(t, 429)
	if late.object["retry_after"] != 600.0 || late.object["global"] != false || own.Name() != "2" {
		t.Errorf("429 is %s, and it is called %q", late.text, own.Name())
	}
	s.d.Advance(10 * time.Minute)
	s.b.do("PATCH", path, object{"name": "3"}).want(t, 200)
	s.b.do("PATCH", path, object{"name": strings.Repeat("n", 101)}).want(t, 400, 50035)
	s.b.do("PATCH", path, object{"locked": true}).want(t, 403, 50013)
	own.LockOpen()
	s.b.do("PATCH", path, object{"archived": true}).want(t, 403, 50013)
	own.Reopen()
	s.b.do("PATCH", "/channels/"+s.room.ID(), object{"name": "x"}).want(t, 403, 50013)
	theirs := s.alice.Open(s.club.Forum("matches"), "An evening", "Hello")
	s.b.do("PATCH", "/channels/"+theirs.ID(), object{"archived": true}).want(t, 403, 50013)
	s.club.BotPermissions(discordtest.Everyone | discordtest.ManageThreads)
	s.b.do("PATCH", "/channels/"+theirs.ID(), object{"archived": true, "locked": true}).want(t, 200)
}

func TestRights(t *testing.T) {
	s := newStage(t, discordtest.Options{Lenient: true})
	send := func() answer { return s.b.do("POST", s.messages(), object{"content": "x"}) }
	withFile := func() answer { return s.b.do("POST", s.messages(), object{}, file{"a.png", picture(1, 1)}) }
	own := send().want(t, 200)
	theirs := s.alice.Say(s.room, "Hello")
	s.b.do("PATCH", s.messages()+"/"+theirs.ID, object{"content": "x"}).want(t, 403, 50005)
	s.b.do("DELETE", s.messages()+"/"+theirs.ID, nil).want(t, 403, 50013)

	s.room.OverwriteBot(0, discordtest.AttachFiles)
	send().want(t, 200)
	withFile().want(t, 403, 50013)
	_, got := s.slash()
	if p, _ := strconv.ParseUint(got["app_permissions"].(string), 10, 64); discordtest.Permission(p).Has(discordtest.AttachFiles) || !discordtest.Permission(p).Has(discordtest.SendMessages) {
		t.Errorf("app_permissions are %v", got["app_permissions"])
	}
	s.b.hook("POST", callbackPath(got), object{"type": 4}, file{"a.png", picture(1, 1)}).want(t, 403, 50013)
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": "A text board."}}).want(t, 204)

	s.room.OverwriteBot(0, discordtest.SendMessages|discordtest.CreatePublicThreads)
	send().want(t, 403, 50013)
	s.b.do("POST", s.messages()+"/"+own.id()+"/threads", object{"name": "x"}).want(t, 403, 50013)
	// An answer to a command needs no such right.
	_, got = s.slash()
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": "Here."}}).want(t, 204)

	s.room.OverwriteBot(0, discordtest.ViewChannel)
	send().want(t, 403, 50001)
	s.b.do("GET", "/channels/"+s.room.ID(), nil).want(t, 403, 50001)
	s.room.OverwriteBot(discordtest.ViewChannel, 0)
	s.club.Everyone(discordtest.Everyone &^ discordtest.ViewChannel)
	send().want(t, 200) // its own overwrite wins over everybody's permissions
	if s.alice.Slash(s.room, "go").Refused() == nil || len(s.alice.Sees(s.room)) != 0 {
		t.Error("alice uses a channel that she does not see")
	}
	s.club.Permit(s.alice, discordtest.ViewChannel)
	if s.alice.Slash(s.room, "go").Refused() != nil {
		t.Error("alice does not see a channel that her role opens")
	}
	s.club.Kick()
	send().want(t, 403, 50001)
	s.b.do("GET", "/guilds/"+s.club.ID(), nil).want(t, 403, 50001)
	s.club.Invite()
	s.room.Delete()
	send().want(t, 404, 10003)

	dm := s.b.do("POST", "/users/@me/channels", object{"recipient_id": s.bob.ID()}).want(t, 200)
	s.b.do("POST", "/channels/"+dm.id()+"/messages", object{"content": "Your turn."}).want(t, 200)
	if m := s.bob.DM().Last(); m.Content != "Your turn." {
		t.Errorf("bob reads %+v", m)
	}
	s.bob.CloseDMs()
	s.b.do("POST", "/channels/"+dm.id()+"/messages", object{"content": "Your turn."}).want(t, 403, 50007)
	s.b.do("POST", "/users/@me/channels", object{"recipient_id": "1"}).want(t, 404, 10013)
}

func TestReadingBack(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	var ids []string
	for n := range 7 {
		ids = append(ids, s.b.do("POST", s.messages(), object{"content": fmt.Sprint(n)}).want(t, 200).id())
	}
	s.alice.Say(s.room, "secret")
	s.alice.Say(s.room, "for <@"+s.d.Application()+">")
	read := func(query string) string {
		var list []string
		for _, m := range s.b.do("GET", s.messages()+query, nil).want(t, 200).list {
			list = append(list, strings.ReplaceAll(m.(object)["content"].(string), s.d.Application(), "me"))
		}
		return strings.Join(list, ",")
	}
	for query, want := range map[string]string{
		"":                              "for <@me>,,6,5,4,3,2,1,0",
		"?limit=2":                      "for <@me>,",
		"?limit=2&after=" + ids[3]:      "5,4",
		"?limit=100&after=" + ids[6]:    "for <@me>,",
		"?after=" + ids[0] + "&limit=1": "1",
	} {
		if got := read(query); got != want {
			t.Errorf("%s is %s, not %s", query, got, want)
		}
	}
	for _, path := range []string{
		"/users/@me", "/applications/@me", "/gateway", "/gateway/bot", "/guilds/" + s.club.ID(),
		"/guilds/" + s.club.ID() + "/members/" + s.alice.ID(), "/channels/" + s.room.ID(), "/channels/" + s.alice.DM().ID(),
	} {
		s.b.do("GET", path, nil).want(t, 200)
	}
	other := s.d.Guild("Chess club")
	s.d.GuildWithout("Draughts club")
	for query, id := range map[string]string{"?limit=1": s.club.ID(), "?after=" + s.club.ID(): other.ID()} {
		list := s.b.do("GET", "/users/@me/guilds"+query, nil).want(t, 200).list
		if len(list) != 1 || list[0].(object)["id"] != id {
			t.Errorf("%s tells of %v", query, list)
		}
	}
	s.b.do("DELETE", s.messages()+"/1", nil).want(t, 404, 10008)
	s.b.do("GET", "/guilds/1", nil).want(t, 404, 10004)
	s.b.do("GET", "/guilds/"+s.club.ID()+"/members/1", nil).want(t, 404, 10013)
}

func TestWhoMayAsk(t *testing.T) {
	s := newStage(t, discordtest.Options{Lenient: true})
	s.b.send("GET", "/users/@me", "", nil, nil).want(t, 401)
	s.b.send("GET", "/users/@me", s.d.Token(), nil, nil).want(t, 401)
	s.b.send("GET", "/users/@me", "Bot wrong", nil, nil).want(t, 401)
	r, _ := http.NewRequest("GET", s.d.API()+"/users/@me", nil)
	r.Header.Set("Authorization", "Bot "+s.d.Token())
	r.Header.Set("User-Agent", "curl/8")
	a, err := s.b.http.Do(r)
	if err != nil || a.StatusCode != 403 {
		t.Fatal(a, err)
	}
	a.Body.Close()
	_, got := s.slash()
	s.b.hook("POST", callbackPath(got), object{"type": 5}).want(t, 204)
	s.b.do("PATCH", s.b.hookPath(got, "/messages/@original"), object{"content": "x"}).want(t, 200)
	if l := s.d.Requests("PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original"); len(l) != 1 || !l[0].Authorized || l[0].Body["content"] != "x" || l[0].Status != 200 {
		t.Errorf("the request was remembered as %+v", l)
	}
	if l := s.d.Requests("POST /interactions/{interaction_id}/{interaction_token}/callback"); l[0].Authorized {
		t.Error("the callback brought a token")
	}
}

func TestBuckets(t *testing.T) {
	limits := discordtest.DefaultLimits()
	s := newStage(t, discordtest.Options{Limits: limits, Lenient: true})
	other := s.club.Channel("other")
	send := func(c *discordtest.Channel) answer {
		return s.b.do("POST", "/channels/"+c.ID()+"/messages", object{"content": "x"})
	}
	a := send(s.room).want(t, 200)
	for key, want := range map[string]string{"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "4", "X-RateLimit-Reset-After": "5.000", "X-RateLimit-Reset": fmt.Sprintf("%d.000", noon.Unix()+5)} {
		if got := a.header.Get(key); got != want {
			t.Errorf("%s is %q, not %q", key, got, want)
		}
	}
	for range 4 {
		send(s.room).want(t, 200)
	}
	s.d.Advance(2 * time.Second)
	a = send(s.room).want(t, 429)
	if a.object["retry_after"] != 3.0 || a.object["global"] != false || a.header.Get("Retry-After") != "3" || a.header.Get("X-RateLimit-Scope") != "user" || a.header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("429 is %s with %v", a.text, a.header)
	}
	if b := send(other).want(t, 200); b.header.Get("X-RateLimit-Bucket") != a.header.Get("X-RateLimit-Bucket") {
		t.Error("two channels have two kinds of bucket")
	}
	s.d.Advance(3 * time.Second)
	send(s.room).want(t, 200)

	// The routes of one interaction share a bucket; another's is its own.
	_, one := s.slash()
	_, two := s.slash()
	for _, got := range []object{one, two} {
		if h := s.b.hook("POST", callbackPath(got), object{"type": 5}).want(t, 204).header; h.Get("X-RateLimit-Limit") != "" {
			t.Error("the callback has a bucket")
		}
	}
	for n := range 5 {
		s.b.hook("PATCH", s.b.hookPath(one, "/messages/@original"), object{"content": fmt.Sprint(n)}).want(t, 200)
	}
	s.b.hook("POST", s.b.hookPath(one, ""), object{"content": "x"}).want(t, 429)
	s.b.hook("PATCH", s.b.hookPath(two, "/messages/@original"), object{"content": "x"}).want(t, 200)

	// Fifty a second for all that brings the token; not for interactions.
	s.d.Advance(time.Minute)
	for n := range 50 {
		s.b.do("GET", "/channels/"+s.club.Channel(fmt.Sprint("c", n)).ID(), nil).want(t, 200)
	}
	a = s.b.do("GET", "/channels/"+s.room.ID(), nil).want(t, 429)
	if a.object["global"] != true || a.header.Get("X-RateLimit-Global") != "true" || a.header.Get("X-RateLimit-Scope") != "global" || a.header.Get("Retry-After") != "1" || a.header.Get("X-RateLimit-Reset-After") != "" {
		t.Errorf("429 is %s with %v", a.text, a.header)
	}
	s.b.hook("PATCH", s.b.hookPath(two, "/messages/@original"), object{"content": "x"}).want(t, 200)
	s.b.do("PATCH", s.b.hookPath(two, "/messages/@original"), object{"content": "x"}).want(t, 429)
}

func TestTheBan(t *testing.T) {
	limits := discordtest.NoLimits()
	limits.Invalid, limits.Ban = 5, time.Hour
	s := newStage(t, discordtest.Options{Limits: limits, Lenient: true})
	s.d.Fault(discordtest.Fault{Route: sendRoute, Status: 429, Scope: "shared", RetryAfter: time.Second})
	s.b.do("POST", s.messages(), object{"content": "x"}).want(t, 429) // shared: not counted
	for range 4 {
		s.b.send("GET", "/users/@me", "", nil, nil).want(t, 401)
	}
	s.d.Advance(10 * time.Minute)
	for range 5 {
		s.b.do("GET", "/users/@me", nil).want(t, 200)
		s.b.send("GET", "/users/@me", "", nil, nil).want(t, 401)
	}
	a := s.b.do("GET", "/users/@me", nil).want(t, 429)
	if a.object != nil || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || !strings.Contains(string(a.text), "1015") {
		t.Errorf("the ban says %s", a.text)
	}
	s.d.Advance(time.Hour)
	s.b.do("GET", "/users/@me", nil).want(t, 200)
}

func TestFaults(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	send := func() answer { return s.b.do("POST", s.messages(), object{"content": "x"}) }
	s.d.Fault(discordtest.Fault{Route: sendRoute, Skip: 1, Times: 2, Status: 502})
	end := s.d.Fault(discordtest.Fault{Route: sendRoute, Times: -1, Every: 2, Status: 503})
	for n, status := range []int{200, 502, 502, 503, 200, 503} {
		if a := send(); a.status != status {
			t.Errorf("request %d is answered %d, not %d", n, a.status, status)
		}
	}
	end()
	s.d.Fault(discordtest.Fault{Path: "/channels/1/", Status: 500})
	send().want(t, 200)
	s.b.do("POST", "/channels/1/messages", object{"content": "x"}).want(t, 500)

	upload := file{"a.bin", make([]byte, 2048)}
	for _, c := range []struct {
		fault  discordtest.Fault
		status int // 0 for no answer
		sent   int // messages
		says   string
	}{
		{discordtest.Fault{Drop: discordtest.BeforeDone}, 0, 0, ""},
		{discordtest.Fault{Drop: discordtest.AfterDone}, 0, 1, ""},
		{discordtest.Fault{Drop: discordtest.HalfWay}, 0, 1, ""},
		{discordtest.Fault{Drop: discordtest.DuringUpload, Files: true}, 0, 0, ""},
		{discordtest.Fault{Status: 503, HTML: true}, 503, 0, "<html>"},
		{discordtest.Fault{Status: 429, HTML: true}, 429, 0, "1015"},
		{discordtest.Fault{Status: 429, RetryAfter: 1500 * time.Millisecond, Scope: "shared"}, 429, 0, `"global":false,"message":"You are being rate limited.","retry_after":1.5`},
		{discordtest.Fault{Status: 429, RetryAfter: time.Second, Scope: "global"}, 429, 0, `"global":true`},
		{discordtest.Fault{Status: 403, Code: 50013, Message: "Missing Permissions"}, 403, 0, `"code":50013,"message":"Missing Permissions"`},
		{discordtest.Fault{Delay: 30 * time.Millisecond}, 200, 1, ""},
		{discordtest.Fault{Pause: 30 * time.Millisecond}, 200, 1, ""},
	} {
		before, began := len(s.room.Messages()), time.Now()
		s.d.Fault(c.fault)
		a := s.b.do("POST", s.messages(), object{}, upload)
		if sent := len(s.room.Messages()) - before; a.status != c.status || sent != c.sent || !strings.Contains(string(a.text), c.says) {
			t.Errorf("%+v: %d messages, answered %d %s", c.fault, sent, a.status, a.text)
		}
		if took := time.Since(began); took < c.fault.Delay+c.fault.Pause {
			t.Errorf("%+v took %v", c.fault, took)
		}
		if scope := a.header.Get("X-RateLimit-Scope"); c.fault.Scope != "" && (scope != c.fault.Scope || (scope == "global") == (a.header.Get("X-RateLimit-Reset-After") != "")) {
			t.Errorf("%+v: the headers are %v", c.fault, a.header)
		}
	}
	if n := s.d.Count(sendRoute); n != 19 {
		t.Errorf("%d requests were counted", n)
	}
}

// TestARequestThatIsWrongFailsTheTest unless it is told not to.
func TestARequestThatIsWrongFailsTheTest(t *testing.T) {
	said := &recorder{T: t}
	d := discordtest.New(said, discordtest.Options{})
	room := d.Guild("g").Channel("c")
	newBot(t, d).do("POST", "/channels/"+room.ID()+"/messages", object{"contnet": "x"}).want(t, 400)
	newBot(t, d).do("GET", "/nothing", nil).want(t, 404)
	if len(said.errors) != 2 || !strings.Contains(said.errors[0], "contnet") || len(d.Violations()) != 2 {
		t.Errorf("the test was told %q", said.errors)
	}
}

type recorder struct {
	*testing.T
	errors []string
}

func (r *recorder) Errorf(format string, a ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}

func TestForget(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	_, got := s.slash()
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": "x"}}).want(t, 204)
	s.d.Forget()
	if len(s.room.Messages()) != 0 || s.d.Transcript() != "" || len(s.d.Requests("")) != 0 {
		t.Error("something is remembered")
	}
	s.b.do("POST", s.messages(), object{"content": "y"}).want(t, 200)
	if len(s.room.Messages()) != 1 || s.d.Count(sendRoute) != 1 {
		t.Error("nothing works any more")
	}
	s.slash()
}
