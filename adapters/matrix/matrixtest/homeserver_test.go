package matrixtest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

func TestMain(m *testing.M) { Main(m) }

// TestHomeserver holds Dendrite and the double to the same: what a test in memory
// shows is worth no more than this.
func TestHomeserver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*asker){
		"accounts":       (*asker).accounts,
		"rooms":          (*asker).roomsOf,
		"membership":     (*asker).membershipOf,
		"power":          (*asker).power,
		"sending":        (*asker).sending,
		"redacting":      (*asker).redacting,
		"paging":         (*asker).paging,
		"relations":      (*asker).relationsOf,
		"syncing":        (*asker).syncing,
		"long poll":      (*asker).longPoll,
		"gaps":           (*asker).gaps,
		"come and gone":  (*asker).comeAndGone,
		"upgrade":        (*asker).upgrade,
		"typing":         (*asker).typing,
		"media":          (*asker).mediaOf,
		"account data":   (*asker).data,
		"keys":           (*asker).keysOf,
		"to devices":     (*asker).toDevices,
		"device lists":   (*asker).deviceLists,
		"cross-signing":  (*asker).crossSigning,
		"deleted device": (*asker).deletedDevice,
	} {
		t.Run(name, func(t *testing.T) {
			Each(t, func(t *testing.T, s *Server) { test(&asker{T: t, s: s}) })
		})
	}
}

// An asker asks a homeserver directly.
type asker struct {
	*testing.T
	s *Server
}

// person registers somebody.
func (a *asker) person(name string) *mautrix.Client {
	a.Helper()
	return a.s.Client(a.T, a.s.URL, a.s.Register(a.T, name))
}

// again logs somebody in once more.
func (a *asker) again(c *mautrix.Client) *mautrix.Client {
	a.Helper()
	user := User{ID: c.UserID, Password: passwordOf(c.UserID.Localpart())}
	user.Token, user.Device = a.s.Login(a.T, user)
	return a.s.Client(a.T, a.s.URL, user)
}

// asks sends a request and returns the status and the answer.
func (a *asker) asks(c *mautrix.Client, method, path string, body any) (int, map[string]any) {
	a.Helper()
	var data []byte
	if body != nil {
		data = must(json.Marshal(body))
	}
	ask, err := http.NewRequestWithContext(a.Context(), method, a.s.URL+"/_matrix/client/v3/"+path, bytes.NewReader(data))
	if err != nil {
		a.Fatal(err)
	}
	if c.AccessToken != "" {
		ask.Header.Set("Authorization", "Bearer "+c.AccessToken)
	}
	got, err := (&http.Client{Transport: a.s.transport}).Do(ask)
	if err != nil {
		a.Fatal(err)
	}
	defer got.Body.Close()
	answer := map[string]any{}
	if err := json.NewDecoder(got.Body).Decode(&answer); err != nil {
		a.Fatal(err)
	}
	return got.StatusCode, answer
}

// does sends a request that must succeed.
func (a *asker) does(c *mautrix.Client, method, path string, body any) map[string]any {
	a.Helper()
	status, answer := a.asks(c, method, path, body)
	if status != http.StatusOK {
		a.Fatalf("%s %s: %d %v", method, path, status, answer)
	}
	return answer
}

// refuses sends a request that must be refused.
func (a *asker) refuses(c *mautrix.Client, method, path string, body any, status int, code string) map[string]any {
	a.Helper()
	is, answer := a.asks(c, method, path, body)
	if is != status || answer["errcode"] != code {
		a.Errorf("%s %s: %d %v, not %d %s", method, path, is, answer, status, code)
	}
	return answer
}

func (a *asker) room(c *mautrix.Client, more map[string]any) id.RoomID {
	a.Helper()
	ask := map[string]any{"preset": "private_chat"}
	for k, v := range more {
		ask[k] = v
	}
	at, _ := a.does(c, "POST", "createRoom", ask)["room_id"].(string)
	return id.RoomID(at)
}

func (a *asker) comes(c *mautrix.Client, at id.RoomID, by *mautrix.Client) {
	a.Helper()
	a.does(by, "POST", "rooms/"+at.String()+"/invite", map[string]any{"user_id": c.UserID})
	a.does(c, "POST", "rooms/"+at.String()+"/join", nil)
}

// two makes a room with two people in it.
func (a *asker) two() (anna, ben *mautrix.Client, at id.RoomID) {
	a.Helper()
	anna, ben = a.person("Anna"), a.person("Ben")
	at = a.room(anna, nil)
	a.comes(ben, at, anna)
	return anna, ben, at
}

func (a *asker) says(c *mautrix.Client, at id.RoomID, txn string) id.EventID {
	a.Helper()
	e, _ := a.does(c, "PUT", "rooms/"+at.String()+"/send/m.room.message/"+txn, map[string]any{"msgtype": "m.text", "body": txn})["event_id"].(string)
	return id.EventID(e)
}

// state reads a state of a room.
func (a *asker) state(c *mautrix.Client, at id.RoomID, kind, key string) map[string]any {
	a.Helper()
	return a.does(c, "GET", "rooms/"+at.String()+"/state/"+kind+"/"+key, nil)
}

func (a *asker) sync(c *mautrix.Client, since, filter string, timeout time.Duration) (n syncAnswer) {
	a.Helper()
	query := map[string]string{"timeout": fmt.Sprint(timeout.Milliseconds())}
	if since != "" {
		query["since"] = since
	}
	if filter != "" {
		query["filter"] = filter
	}
	a.gets(c, mautrix.ClientURLPath{"v3", "sync"}, query, &n)
	return n
}

// gets reads the answer to a GET that must succeed.
func (a *asker) gets(c *mautrix.Client, path mautrix.ClientURLPath, query map[string]string, answer any) {
	a.Helper()
	data, err := c.MakeFullRequest(a.Context(), mautrix.FullRequest{Method: "GET", URL: c.BuildURLWithQuery(path, query)})
	if err == nil {
		err = json.Unmarshal(data, answer)
	}
	if err != nil {
		a.Fatal(err)
	}
}

// page reads messages of a room.
func (a *asker) page(c *mautrix.Client, at id.RoomID, query map[string]string) (page struct {
	Chunk      []*Event
	Start, End string
}) {
	a.Helper()
	a.gets(c, mautrix.ClientURLPath{"v3", "rooms", at, "messages"}, query, &page)
	return page
}

// until syncs from a place until something is there, and returns that answer.
// Dendrite tells what it was told a moment later.
func (a *asker) until(c *mautrix.Client, since, filter, what string, so func(syncAnswer) bool) syncAnswer {
	a.Helper()
	for late := time.Now().Add(a.s.patienceOf(a.T)); time.Now().Before(late); {
		n := a.sync(c, since, filter, time.Second)
		if so(n) {
			return n
		}
	}
	a.Fatalf("no %s", what)
	return syncAnswer{}
}

// here syncs until somebody is told of the one room that they are in.
func (a *asker) here(c *mautrix.Client, since string) syncAnswer {
	a.Helper()
	return a.until(c, since, "", "room", func(n syncAnswer) bool { return len(n.Rooms.Join) == 1 })
}

func bodies(list []*Event) (out []string) {
	for _, e := range list {
		if e.Type == "m.room.message" {
			out = append(out, text(e.Content["body"]))
		}
	}
	return out
}

func kinds(list []*Event) (out []string) {
	for _, e := range list {
		out = append(out, strings.TrimPrefix(e.Type, "m.room."))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (a *asker) same(what string, got, want any) {
	a.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		a.Errorf("%s: %v, not %v", what, got, want)
	}
}

func (a *asker) accounts() {
	anna := a.person("Anna")
	nobody := a.s.Client(a.T, a.s.URL, User{})
	user := anna.UserID.String()
	me := a.does(anna, "GET", "account/whoami", nil)
	a.same("who Anna is", fmt.Sprint(me["user_id"], me["device_id"]), user+anna.DeviceID.String())
	a.refuses(nobody, "GET", "account/whoami", nil, 401, "M_MISSING_TOKEN")
	login := func(password string) map[string]any {
		return map[string]any{"type": "m.login.password", "identifier": map[string]any{"type": "m.id.user", "user": user}, "password": password}
	}
	a.refuses(nobody, "POST", "login", login("wrong"), 403, "M_FORBIDDEN")
	whole := login(passwordOf(anna.UserID.Localpart()))
	second := a.does(nobody, "POST", "login", whole)
	if second["device_id"] == anna.DeviceID.String() || second["access_token"] == anna.AccessToken {
		a.Errorf("the second device is the first: %v", second)
	}
	whole["device_id"] = second["device_id"]
	third := a.does(nobody, "POST", "login", whole)
	a.same("the device that was asked for", third["device_id"], second["device_id"])
	old := a.s.Client(a.T, a.s.URL, User{Token: text(second["access_token"])})
	a.refuses(old, "GET", "account/whoami", nil, 401, "M_UNKNOWN_TOKEN")
	again := a.s.Client(a.T, a.s.URL, User{Token: text(third["access_token"])})
	list, _ := a.does(again, "GET", "devices", nil)["devices"].([]any)
	a.same("devices", len(list), 2)
	a.does(again, "POST", "logout", nil)
	a.refuses(again, "GET", "account/whoami", nil, 401, "M_UNKNOWN_TOKEN")
	a.refuses(anna, "GET", "devices/"+text(third["device_id"]), nil, 404, "M_NOT_FOUND")

	a.same("the name", a.does(anna, "GET", "profile/"+user, nil)["displayname"], "Anna")
	at := a.room(anna, nil)
	a.does(anna, "PUT", "profile/"+user+"/displayname", map[string]any{"displayname": "Anna B."})
	a.same("the new name", a.does(anna, "GET", "profile/"+user, nil)["displayname"], "Anna B.")
	a.until(anna, "", "", "new name in the room", func(n syncAnswer) bool {
		return slices.ContainsFunc(n.Rooms.Join[at].Timeline.Events, func(e *Event) bool { return e.Content["displayname"] == "Anna B." })
	})
	if twin := a.person("Anna"); twin.UserID == anna.UserID || twin.AccessToken == anna.AccessToken {
		a.Errorf("people of one name are the same: %s", twin.UserID)
	}
	a.refuses(anna, "GET", "profile/@nobody-of-this-name:"+Name, nil, 404, "M_NOT_FOUND")
	a.refuses(anna, "GET", "no/such/thing", nil, 404, "M_UNRECOGNIZED")
}

func (a *asker) roomsOf() {
	anna, ben := a.person("Anna"), a.person("Ben")
	power := func(at id.RoomID, c *mautrix.Client) any {
		users, _ := a.state(anna, at, "m.room.power_levels", "")["users"].(map[string]any)
		return users[c.UserID.String()]
	}
	private := a.room(anna, map[string]any{"name": "Go", "creation_content": map[string]any{"odd": "x", "predecessor": map[string]any{"room_id": "!old:" + Name}},
		"power_level_content_override": map[string]any{"events_default": 7},
		"initial_state":                []any{map[string]any{"type": "m.room.encryption", "state_key": "", "content": map[string]any{"algorithm": "m.megolm.v1.aes-sha2"}}}})
	create := a.state(anna, private, "m.room.create", "")
	a.same("what is written into the beginning", fmt.Sprint(create["odd"], create["predecessor"], create["room_version"]), fmt.Sprint("x", map[string]any{"room_id": "!old:" + Name}, "11"))
	a.same("the name", a.state(anna, private, "m.room.name", "")["name"], "Go")
	a.same("encryption", a.state(anna, private, "m.room.encryption", "")["algorithm"], "m.megolm.v1.aes-sha2")
	a.same("who comes", a.state(anna, private, "m.room.join_rules", "")["join_rule"], "invite")
	a.same("who reads", a.state(anna, private, "m.room.history_visibility", "")["history_visibility"], "shared")
	levels := a.state(anna, private, "m.room.power_levels", "")
	a.same("the power", fmt.Sprint(power(private, anna), levels["events_default"], levels["state_default"], levels["invite"], levels["redact"]), "100 7 50 0 50")
	a.same("the maker", fmt.Sprint(a.state(anna, private, "m.room.member", anna.UserID.String())["membership"], a.state(anna, private, "m.room.member", anna.UserID.String())["displayname"]), "joinAnna")
	a.refuses(anna, "GET", "rooms/"+private.String()+"/state/m.room.topic/", nil, 404, "M_NOT_FOUND")
	a.refuses(ben, "GET", "rooms/"+private.String()+"/state/m.room.create/", nil, 403, "M_FORBIDDEN")

	direct := a.room(anna, map[string]any{"preset": "trusted_private_chat", "is_direct": true, "invite": []id.UserID{ben.UserID}})
	a.same("the power of who is trusted", power(direct, ben), 100.0)
	asked := a.state(anna, direct, "m.room.member", ben.UserID.String())
	a.same("an invitation", fmt.Sprint(asked["membership"], asked["is_direct"]), "invitetrue")
	public := a.room(anna, map[string]any{"preset": "public_chat"})
	a.same("who comes", a.state(anna, public, "m.room.join_rules", "")["join_rule"], "public")
	in, _ := a.does(anna, "GET", "joined_rooms", nil)["joined_rooms"].([]any)
	a.same("rooms", len(in), 3)
	members, _ := a.does(anna, "GET", "rooms/"+direct.String()+"/members", nil)["chunk"].([]any)
	a.same("members", len(members), 2)
}

func (a *asker) membershipOf() {
	anna, ben, cleo := a.person("Anna"), a.person("Ben"), a.person("Cleo")
	at := a.room(anna, nil)
	in := "rooms/" + at.String() + "/"
	whom := func(c *mautrix.Client) map[string]any { return map[string]any{"user_id": c.UserID} }
	is := func(c *mautrix.Client) any {
		return a.state(anna, at, "m.room.member", c.UserID.String())["membership"]
	}
	a.refuses(ben, "POST", "join/"+at.String(), nil, 403, "M_FORBIDDEN")
	a.refuses(ben, "PUT", in+"send/m.room.message/x", map[string]any{"body": "x", "msgtype": "m.text"}, 403, "M_FORBIDDEN")
	a.refuses(ben, "POST", in+"invite", whom(cleo), 403, "M_FORBIDDEN")
	a.does(anna, "POST", in+"invite", whom(ben))
	a.same("invited", is(ben), "invite")
	a.does(ben, "POST", in+"leave", nil) // declined
	a.same("declined", is(ben), "leave")
	a.comes(ben, at, anna)
	a.same("come", is(ben), "join")
	a.does(ben, "POST", "join/"+at.String(), nil) // which they are
	a.refuses(anna, "POST", in+"invite", whom(ben), 403, "M_FORBIDDEN")
	a.does(ben, "POST", in+"invite", whom(cleo)) // anybody may
	a.does(cleo, "POST", "join/"+at.String(), nil)
	a.refuses(ben, "POST", in+"kick", whom(cleo), 403, "M_FORBIDDEN")
	a.does(anna, "POST", in+"kick", map[string]any{"user_id": cleo.UserID, "reason": "late"})
	member := a.state(anna, at, "m.room.member", cleo.UserID.String())
	a.same("sent away", fmt.Sprint(member["membership"], member["reason"]), "leavelate")
	a.does(anna, "POST", in+"ban", whom(ben))
	a.same("banned", is(ben), "ban")
	a.refuses(ben, "POST", "join/"+at.String(), nil, 403, "M_FORBIDDEN")
	a.refuses(anna, "POST", in+"invite", whom(ben), 403, "M_FORBIDDEN")
	a.does(anna, "POST", in+"unban", whom(ben))
	a.same("no longer banned", is(ben), "leave")
	a.same("what Ben may still know", a.state(ben, at, "m.room.create", "")["room_version"], "11")
	a.refuses(a.person("Dora"), "GET", in+"members", nil, 403, "M_FORBIDDEN")
	a.comes(ben, at, anna)
	public := a.room(anna, map[string]any{"preset": "public_chat"})
	a.does(ben, "POST", "join/"+public.String(), nil)
	a.does(ben, "POST", "rooms/"+public.String()+"/leave", nil)
	rooms, _ := a.does(ben, "GET", "joined_rooms", nil)["joined_rooms"].([]any)
	a.same("Ben's rooms", rooms, []any{at.String()})
}

func (a *asker) power() {
	anna, ben := a.person("Anna"), a.person("Ben")
	at := a.room(anna, map[string]any{"power_level_content_override": map[string]any{
		"users": map[string]any{anna.UserID.String(): 100}, "events_default": 50, "invite": 50, "events": map[string]any{"m.reaction": 0, "odd.state": 10}}})
	in := "rooms/" + at.String() + "/"
	a.comes(ben, at, anna)
	message := map[string]any{"body": "x", "msgtype": "m.text"}
	a.refuses(ben, "PUT", in+"send/m.room.message/x", message, 403, "M_FORBIDDEN")
	a.refuses(ben, "PUT", in+"state/odd.state/", map[string]any{}, 403, "M_FORBIDDEN")
	a.refuses(ben, "PUT", in+"state/m.room.name/", map[string]any{"name": "Mine"}, 403, "M_FORBIDDEN")
	a.refuses(ben, "POST", in+"invite", map[string]any{"user_id": "@cleo:" + Name}, 403, "M_FORBIDDEN")
	said := a.says(anna, at, "hello")
	a.does(ben, "PUT", in+"send/m.reaction/x", map[string]any{"m.relates_to": map[string]any{"rel_type": "m.annotation", "event_id": said, "key": "✅"}})
	a.refuses(ben, "PUT", in+"redact/"+said.String()+"/x", map[string]any{}, 403, "M_FORBIDDEN")
	a.does(anna, "PUT", in+"state/m.room.power_levels/", map[string]any{"users": map[string]any{anna.UserID.String(): 100, ben.UserID.String(): 10}, "events_default": 10, "events": map[string]any{"odd.state": 10}})
	a.does(ben, "PUT", in+"send/m.room.message/x", message)
	a.does(ben, "PUT", in+"state/odd.state/", map[string]any{"a": 1})
	a.same("the state", a.state(anna, at, "odd.state", "")["a"], 1.0)
	a.refuses(ben, "PUT", in+"state/odd.state/"+anna.UserID.String(), map[string]any{}, 403, "M_FORBIDDEN")
}

func (a *asker) sending() {
	anna, ben, at := a.two()
	in := "rooms/" + at.String() + "/"
	first := a.says(anna, at, "one")
	a.same("the same transaction", a.says(anna, at, "one"), first)
	if other := a.says(ben, at, "one"); other == first {
		a.Error("another's transaction is taken for Anna's")
	}
	second := a.again(anna)
	if other := a.says(second, at, "one"); other == first {
		a.Error("another device's transaction is taken for the first's")
	}
	e := a.does(ben, "GET", in+"event/"+first.String(), nil)
	content, _ := e["content"].(map[string]any)
	a.same("the event", fmt.Sprint(e["sender"], e["type"], e["event_id"], content["body"]), fmt.Sprint(anna.UserID, "m.room.message", first, "one"))
	a.refuses(ben, "GET", in+"event/$no-such-event", nil, 404, "M_NOT_FOUND")
	if status, _ := a.asks(anna, "PUT", in+"send/m.room.message/big", map[string]any{"body": strings.Repeat("x", 70_000), "msgtype": "m.text"}); status != 413 {
		a.Errorf("a message of 70 kB: %d", status)
	}
	n := a.until(anna, "", "", "own message", func(n syncAnswer) bool { return len(bodies(n.Rooms.Join[at].Timeline.Events)) == 3 })
	for _, e := range n.Rooms.Join[at].Timeline.Events {
		if e.ID == first {
			a.same("the transaction", e.Unsigned["transaction_id"], "one")
		} else if e.Unsigned["transaction_id"] != nil {
			a.Errorf("somebody else's transaction: %v", e)
		}
	}
	state := func(content string) any {
		return a.does(anna, "PUT", in+"state/m.room.topic/", map[string]any{"topic": content})["event_id"]
	}
	state("chess")
	state("go")
	n = a.until(ben, "", "", "topic", func(n syncAnswer) bool {
		return slices.ContainsFunc(n.Rooms.Join[at].Timeline.Events, func(e *Event) bool { return e.Content["topic"] == "go" })
	})
	last := n.Rooms.Join[at].Timeline.Events[len(n.Rooms.Join[at].Timeline.Events)-1]
	before, _ := last.Unsigned["prev_content"].(map[string]any)
	a.same("what it was before", before["topic"], "chess")
}

func (a *asker) redacting() {
	anna, ben, at := a.two()
	in := "rooms/" + at.String() + "/"
	said := a.says(ben, at, "slip")
	redaction := a.does(ben, "PUT", in+"redact/"+said.String()+"/r1", map[string]any{"reason": "oops"})["event_id"]
	a.same("the same redaction", a.does(ben, "PUT", in+"redact/"+said.String()+"/r1", map[string]any{"reason": "oops"})["event_id"], redaction)
	var e map[string]any
	a.until(ben, "", "", "redaction", func(n syncAnswer) bool {
		for _, x := range n.Rooms.Join[at].Timeline.Events {
			if fmt.Sprint(x.ID) == redaction {
				a.same("what is redacted", fmt.Sprint(x.Content["redacts"], x.Content["reason"]), fmt.Sprint(said, "oops"))
				return true
			}
		}
		return false
	})
	for late := time.Now().Add(a.s.patienceOf(a.T)); time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
		e = a.does(anna, "GET", in+"event/"+said.String(), nil)
		if content, _ := e["content"].(map[string]any); len(content) == 0 {
			break
		}
	}
	unsigned, _ := e["unsigned"].(map[string]any)
	because, _ := unsigned["redacted_because"].(map[string]any)
	a.same("a redacted event", fmt.Sprint(e["content"], because["event_id"], because["sender"]), fmt.Sprint(map[string]any{}, redaction, ben.UserID))
	a.does(anna, "PUT", in+"redact/"+a.says(ben, at, "rude").String()+"/r2", map[string]any{}) // she has the power
}

func (a *asker) paging() {
	anna, ben, at := a.two()
	for n := range 7 {
		a.says([]*mautrix.Client{anna, ben}[n%2], at, fmt.Sprint(n))
	}
	a.until(anna, "", "", "all", func(n syncAnswer) bool { return slices.Contains(bodies(n.Rooms.Join[at].Timeline.Events), "6") })
	pages := func(from string, limit int, filter string) (got []string) {
		for range 50 {
			query := map[string]string{"dir": "b", "limit": fmt.Sprint(limit), "filter": filter}
			if from != "" {
				query["from"] = from
			}
			page := a.page(anna, at, query)
			if from != "" {
				a.same("the start", page.Start, from)
			}
			got = append(got, bodies(page.Chunk)...)
			if len(page.Chunk) > limit {
				a.Errorf("%d in a page", len(page.Chunk))
			}
			if page.End == "" || page.End == from || len(page.Chunk) == 0 {
				return got
			}
			from = page.End
		}
		a.Error("there is no end")
		return got
	}
	const said = `{"types":["m.room.message"]}`
	a.same("backwards", pages("", 3, said), "[6 5 4 3 2 1 0]")
	a.same("Ben's", pages("", 2, fmt.Sprintf(`{"types":["m.room.message"],"senders":[%q]}`, ben.UserID)), "[5 3 1]")
	n := a.sync(anna, "", `{"room":{"timeline":{"limit":3,"types":["m.room.message"]}}}`, 0)
	line := n.Rooms.Join[at].Timeline
	a.same("the newest", fmt.Sprint(bodies(line.Events), line.Limited), "[4 5 6] true")
	a.same("what comes before", pages(line.Before, 3, said), "[3 2 1 0]")
}

func (a *asker) relationsOf() {
	anna, ben, at := a.two()
	said, other := a.says(anna, at, "one"), a.says(anna, at, "two")
	react := func(c *mautrix.Client, to id.EventID, key string) string {
		return text(a.does(c, "PUT", "rooms/"+at.String()+"/send/m.reaction/"+key+to.String(), map[string]any{"m.relates_to": map[string]any{"rel_type": "m.annotation", "event_id": to, "key": key}})["event_id"])
	}
	first, gone, last := react(anna, said, "a"), react(ben, said, "b"), react(ben, said, "c")
	react(ben, other, "a")
	a.does(ben, "PUT", "rooms/"+at.String()+"/redact/"+gone+"/r", map[string]any{})
	related := func(kind event.Type, dir mautrix.Direction) (list []string) {
		got, err := anna.GetRelations(a.Context(), at, said, &mautrix.ReqGetRelations{RelationType: event.RelAnnotation, EventType: kind, Dir: dir, Limit: 50})
		if err != nil {
			a.Fatal(err)
		}
		for _, e := range got.Chunk {
			if e.Unsigned.RedactedBecause == nil {
				list = append(list, e.ID.String())
			}
		}
		return list
	}
	reactions := func(dir mautrix.Direction) []string { return related(event.EventReaction, dir) }
	want := []string{first, last} // Dendrite knows of them a moment later
	for late := time.Now().Add(a.s.patienceOf(a.T)); !slices.Equal(reactions(mautrix.DirectionForward), want) && time.Now().Before(late); {
		time.Sleep(10 * time.Millisecond)
	}
	a.same("forwards", reactions(mautrix.DirectionForward), want)
	a.same("backwards", reactions(mautrix.DirectionBackward), []string{last, first})
	a.same("of any type", related(event.Type{}, mautrix.DirectionForward), want)
}

func (a *asker) syncing() {
	anna, ben := a.person("Anna"), a.person("Ben")
	at := a.room(anna, map[string]any{"name": "Go", "invite": []id.UserID{ben.UserID}})
	n := a.until(ben, "", "", "invitation", func(n syncAnswer) bool { return len(n.Rooms.Invite) == 1 })
	state := n.Rooms.Invite[at].State.Events
	by := slices.IndexFunc(state, func(e *Event) bool { return e.Type == "m.room.member" && *e.StateKey == ben.UserID.String() })
	if by < 0 || state[by].Sender != anna.UserID || state[by].Content["membership"] != "invite" {
		a.Errorf("the invitation holds %s", must(json.Marshal(state)))
	}
	if k := kinds(state); !slices.Contains(k, "name") || !slices.Contains(k, "join_rules") {
		a.Errorf("the invitation says of the room only %v", k)
	}
	before := n.Next
	a.same("afterwards", len(a.sync(ben, before, "", 0).Rooms.Invite), 0)
	a.does(ben, "POST", "join/"+at.String(), nil)
	a.here(ben, before)
	// Dendrite now and then tells of the room in two steps, so look at all of it.
	joined := a.sync(ben, "", "", 0).Rooms.Join[at]
	all := kinds(slices.Concat(joined.State.Events, joined.Timeline.Events))
	for _, kind := range []string{"create", "member", "power_levels", "join_rules", "history_visibility", "name"} {
		if !slices.Contains(all, kind) {
			a.Errorf("who comes is not told the %s, but %v", kind, all)
		}
	}
	if joined.Summary.Joined == nil || *joined.Summary.Joined != 2 {
		a.Errorf("there are %v", joined.Summary.Joined)
	}
	// What somebody does not ask for they do not get, and do not wake up for.
	const filter = `{"room":{"ephemeral":{"not_types":["*"]},"timeline":{"limit":50,"types":["m.room.message","m.room.member"]},"state":{"types":["m.room.member","m.room.create"]}}}`
	whole := a.sync(ben, "", filter, 0)
	a.same("the kinds", kinds(slices.Concat(whole.Rooms.Join[at].State.Events, whole.Rooms.Join[at].Timeline.Events)), []string{"create", "member"})
	a.does(anna, "PUT", "rooms/"+at.String()+"/state/m.room.topic/", map[string]any{"topic": "go"})
	said := a.says(anna, at, "hello")
	n = a.until(ben, whole.Next, filter, "message", func(n syncAnswer) bool { return len(n.Rooms.Join[at].Timeline.Events) > 0 })
	a.same("what is new", fmt.Sprint(kinds(n.Rooms.Join[at].Timeline.Events), n.Rooms.Join[at].Timeline.Events[0].ID, n.Rooms.Join[at].Timeline.Limited), fmt.Sprint([]string{"message"}, said, false))
	a.same("again from the same place", bodies(a.sync(ben, whole.Next, filter, 0).Rooms.Join[at].Timeline.Events), []string{"hello"})
	a.same("nothing more", len(a.sync(ben, n.Next, filter, 0).Rooms.Join), 0)
	status, _ := a.asks(ben, "GET", "sync?since=nonsense", nil)
	a.same("a place that is none", status, 400)
}

func (a *asker) longPoll() {
	anna, ben, at := a.two()
	place := a.here(ben, "").Next
	for a.sync(ben, place, "", 100*time.Millisecond).Next != place { // until there is nothing new
		place = a.sync(ben, place, "", 100*time.Millisecond).Next
	}
	began := time.Now()
	n := a.sync(ben, place, "", 500*time.Millisecond)
	if took := time.Since(began); took < 400*time.Millisecond || len(n.Rooms.Join) > 0 {
		a.Errorf("with nothing new the answer comes after %v: %+v", took, n)
	}
	heard := make(chan syncAnswer, 1)
	go func() { heard <- a.sync(ben, place, "", time.Minute) }()
	time.Sleep(100 * time.Millisecond)
	began = time.Now()
	a.says(anna, at, "hello")
	if n := <-heard; fmt.Sprint(bodies(n.Rooms.Join[at].Timeline.Events)) != "[hello]" || time.Since(began) > 30*time.Second {
		a.Errorf("after %v: %+v", time.Since(began), n)
	}
}

func (a *asker) gaps() {
	anna, ben, at := a.two()
	place := a.here(ben, "").Next
	a.does(anna, "PUT", "rooms/"+at.String()+"/state/m.room.topic/", map[string]any{"topic": "go"})
	for n := range 9 {
		a.says(anna, at, fmt.Sprint(n))
	}
	a.until(ben, place, "", "all", func(n syncAnswer) bool { return slices.Contains(bodies(n.Rooms.Join[at].Timeline.Events), "8") })
	n := a.sync(ben, place, `{"room":{"timeline":{"limit":3}}}`, 0)
	j := n.Rooms.Join[at]
	a.same("the newest", fmt.Sprint(bodies(j.Timeline.Events), j.Timeline.Limited), "[6 7 8] true")
	if !slices.Contains(kinds(j.State.Events), "topic") {
		a.Errorf("the state that was left out is not told: %v", kinds(j.State.Events))
	}
	page := a.page(ben, at, map[string]string{"dir": "b", "from": j.Timeline.Before, "limit": "6"})
	a.same("what is missing", bodies(page.Chunk), []string{"5", "4", "3", "2", "1", "0"})
}

func (a *asker) comeAndGone() {
	anna, ben := a.person("Anna"), a.person("Ben")
	at := a.room(anna, nil)
	a.says(anna, at, "before")
	a.comes(ben, at, anna)
	here := a.here(ben, "")
	if !slices.Contains(bodies(here.Rooms.Join[at].Timeline.Events), "before") {
		a.Error("what was said before is not to be seen") // history is shared
	}
	a.does(anna, "POST", "rooms/"+at.String()+"/kick", map[string]any{"user_id": ben.UserID})
	gone := a.until(ben, here.Next, "", "leaving", func(n syncAnswer) bool { return len(n.Rooms.Leave) == 1 })
	a.same("the room is left", len(gone.Rooms.Join), 0)
	a.says(anna, at, "meanwhile")
	a.comes(ben, at, anna)
	again := a.here(ben, gone.Next)
	if !slices.Contains(bodies(again.Rooms.Join[at].Timeline.Events), "meanwhile") {
		a.Errorf("who comes again sees %v", bodies(again.Rooms.Join[at].Timeline.Events))
	}
	a.does(ben, "POST", "rooms/"+at.String()+"/leave", nil)
	a.until(ben, again.Next, "", "leaving", func(n syncAnswer) bool { return len(n.Rooms.Leave) == 1 })
	whole := a.sync(ben, "", everything, 0)
	a.same("rooms that were left before the first answer", len(whole.Rooms.Leave)+len(whole.Rooms.Join), 0)
}

func (a *asker) upgrade() {
	anna, ben := a.person("Anna"), a.person("Ben")
	old := a.room(anna, nil)
	a.comes(ben, old, anna)
	new := a.room(anna, map[string]any{"creation_content": map[string]any{"predecessor": map[string]any{"room_id": old}}, "preset": "public_chat"})
	a.refuses(ben, "PUT", "rooms/"+old.String()+"/state/m.room.tombstone/", map[string]any{"replacement_room": new}, 403, "M_FORBIDDEN")
	a.does(anna, "PUT", "rooms/"+old.String()+"/state/m.room.tombstone/", map[string]any{"replacement_room": new, "body": "moved"})
	a.refuses(ben, "GET", "rooms/"+new.String()+"/state/m.room.create/", nil, 403, "M_FORBIDDEN")
	a.does(ben, "POST", "join/"+new.String(), nil)
	a.same("where it comes from", object(a.state(ben, new, "m.room.create", "")["predecessor"])["room_id"], old.String())
	a.says(ben, old, "still here")
	if status, _ := a.asks(ben, "POST", "join/!nowhere:"+Name, nil); status < 400 {
		a.Errorf("joining a room that is not there: %d", status)
	}
}

func (a *asker) typing() {
	anna, ben, at := a.two()
	place := a.here(ben, "").Next
	said := a.says(ben, at, "hello")
	typists := func(n syncAnswer) any {
		for _, e := range n.Rooms.Join[at].Ephemeral.Events {
			if e.Type == "m.typing" {
				return e.Content["user_ids"]
			}
		}
		return nil
	}
	in := "rooms/" + at.String() + "/"
	a.does(anna, "PUT", in+"typing/"+anna.UserID.String(), map[string]any{"typing": true, "timeout": 30_000})
	n := a.until(ben, place, "", "typist", func(n syncAnswer) bool { return typists(n) != nil })
	a.same("who types", typists(n), []any{anna.UserID.String()})
	a.does(anna, "PUT", in+"typing/"+anna.UserID.String(), map[string]any{"typing": false})
	n = a.until(ben, n.Next, "", "end of typing", func(n syncAnswer) bool { return typists(n) != nil })
	a.same("who types", typists(n), []any{})
	a.does(anna, "POST", in+"receipt/m.read/"+said.String(), map[string]any{})
	a.until(ben, place, "", "receipt", func(n syncAnswer) bool {
		return slices.ContainsFunc(n.Rooms.Join[at].Ephemeral.Events, func(e *Event) bool {
			return e.Type == "m.receipt" && object(object(object(e.Content[said.String()])["m.read"])[anna.UserID.String()])["ts"] != nil
		})
	})
}

func (a *asker) mediaOf() {
	anna, ben := a.person("Anna"), a.person("Ben")
	stored, err := anna.UploadBytesWithName(a.Context(), []byte("a picture"), "image/png", "x.png")
	if err != nil {
		a.Fatal(err)
	}
	data, err := ben.DownloadBytes(a.Context(), stored.ContentURI)
	if err != nil || string(data) != "a picture" {
		a.Errorf("%q, %v", data, err)
	}
	_, err = ben.DownloadBytes(a.Context(), id.ContentURI{Homeserver: Name, FileID: "nothing"})
	a.status("a file that is not there", err, 404, "M_NOT_FOUND")
	// Dendrite may close the connection before all was sent.
	_, err = anna.UploadBytes(a.Context(), make([]byte, 10<<20+1), "image/png")
	var refused mautrix.HTTPError
	if err == nil || errors.As(err, &refused) && refused.Response != nil && refused.Response.StatusCode != 413 {
		a.Errorf("too large a file: %v", err)
	}
}

func (a *asker) status(what string, err error, status int, code string) {
	a.Helper()
	var refused mautrix.HTTPError
	if !errors.As(err, &refused) || refused.Response == nil || refused.Response.StatusCode != status || refused.RespError == nil || refused.RespError.ErrCode != code {
		a.Errorf("%s: %v, not %d %s", what, err, status, code)
	}
}

func (a *asker) data() {
	anna, ben := a.person("Anna"), a.person("Ben")
	mine := "user/" + anna.UserID.String() + "/account_data/odd.type"
	a.refuses(anna, "GET", mine, nil, 404, "M_NOT_FOUND")
	a.does(anna, "PUT", mine, map[string]any{"a": "1"})
	a.does(anna, "PUT", mine, map[string]any{"a": "2"})
	a.same("the data", a.does(anna, "GET", mine, nil)["a"], "2")
	if status, _ := a.asks(ben, "GET", mine, nil); status != 403 && status != 404 {
		a.Errorf("somebody else's data: %d", status)
	}
}

// oneTimeKeys are keys for an upload, as little alike as real ones.
func oneTimeKeys(from, n int) map[string]any {
	keys := map[string]any{}
	for k := range n {
		keys[fmt.Sprintf("signed_curve25519:AAA%03d", from+k)] = map[string]any{"key": fmt.Sprintf("key %d", from+k), "signatures": map[string]any{}}
	}
	return keys
}

// signingKey is what publishes says to be the key of a device.
func signingKey(c *mautrix.Client) string {
	sum := sha256.Sum256([]byte(c.DeviceID))
	return base64.RawStdEncoding.EncodeToString(sum[:])
}

// publishes uploads keys of a device.
func (a *asker) publishes(c *mautrix.Client, oneTime map[string]any) map[string]any {
	a.Helper()
	device := c.DeviceID.String()
	keys := map[string]any{"user_id": c.UserID, "device_id": device, "algorithms": []string{"m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"},
		"keys":       map[string]string{"ed25519:" + device: signingKey(c), "curve25519:" + device: newSigner(c.UserID, 7).public},
		"signatures": map[id.UserID]map[string]string{c.UserID: {"ed25519:" + device: newSigner(c.UserID, 8).public}}}
	return a.does(c, "POST", "keys/upload", map[string]any{"device_keys": keys, "one_time_keys": oneTime})
}

func (a *asker) keysOf() {
	anna, ben := a.person("Anna"), a.person("Ben")
	got := a.publishes(anna, oneTimeKeys(0, 3))
	a.same("how many there are", object(got["one_time_key_counts"])["signed_curve25519"], 3.0)
	query := func(c *mautrix.Client, only ...id.DeviceID) map[string]any {
		if only == nil {
			only = []id.DeviceID{}
		}
		return object(object(a.does(c, "POST", "keys/query", map[string]any{"device_keys": map[id.UserID][]id.DeviceID{anna.UserID: only}})["device_keys"])[anna.UserID.String()])
	}
	device := object(query(ben)[anna.DeviceID.String()])
	a.same("the key", object(device["keys"])["ed25519:"+anna.DeviceID.String()], signingKey(anna))
	a.same("the name", object(device["unsigned"])["device_display_name"], "test")
	a.same("one device", len(query(ben, anna.DeviceID)), 1)
	a.same("another device", len(query(ben, "OTHER")), 0)
	claimed := map[any]bool{}
	claim := func() int {
		all := object(object(a.does(ben, "POST", "keys/claim", map[string]any{"one_time_keys": map[id.UserID]map[id.DeviceID]string{anna.UserID: {anna.DeviceID: "signed_curve25519"}}})["one_time_keys"])[anna.UserID.String()])
		keys := object(all[anna.DeviceID.String()])
		for _, k := range keys {
			claimed[object(k)["key"]] = true
		}
		return len(keys)
	}
	a.same("keys at a time", fmt.Sprint(claim(), claim(), claim(), claim()), "1 1 1 0")
	a.same("different keys", len(claimed), 3)
	place := a.sync(anna, "", "", 0).Next
	got = a.does(anna, "POST", "keys/upload", map[string]any{"one_time_keys": oneTimeKeys(10, 2)})
	a.same("how many there are", object(got["one_time_key_counts"])["signed_curve25519"], 2.0)
	a.until(anna, place, "", "count of the new keys", func(n syncAnswer) bool { return n.OneTime["signed_curve25519"] == 2 })
	a.same("the device is as before", len(query(ben)), 1)
}

func (a *asker) toDevices() {
	anna, ben := a.person("Anna"), a.person("Ben")
	place := a.sync(ben, "", "", 0).Next
	send := func(txn string) {
		a.does(anna, "PUT", "sendToDevice/odd.type/"+txn, map[string]any{"messages": map[id.UserID]map[id.DeviceID]any{ben.UserID: {ben.DeviceID: map[string]any{"txn": txn}}}})
	}
	send("one")
	send("two")
	send("two") // once
	got := func(n syncAnswer) (list []string) {
		for _, e := range n.ToDevice.Events {
			list = append(list, e.Type+" "+text(e.Content["txn"])+" "+e.Sender.String())
		}
		return list
	}
	n := a.until(ben, place, "", "messages", func(n syncAnswer) bool { return len(n.ToDevice.Events) >= 2 })
	both := []string{"odd.type one " + anna.UserID.String(), "odd.type two " + anna.UserID.String()}
	a.same("messages", got(n), both)
	a.same("the same place again", got(a.sync(ben, place, "", 0)), both) // the answer may have been lost
	a.same("the next", got(a.sync(ben, n.Next, "", 0)), []string(nil))
	a.same("they are gone", got(a.sync(ben, place, "", 0)), []string(nil))
	second := a.again(ben)
	send("three")
	a.until(ben, n.Next, "", "the third", func(n syncAnswer) bool { return len(n.ToDevice.Events) == 1 })
	a.same("another device", got(a.sync(second, "", "", 0)), []string(nil))
}

func (a *asker) deviceLists() {
	anna, ben, cleo := a.person("Anna"), a.person("Ben"), a.person("Cleo")
	for _, c := range []*mautrix.Client{anna, ben, cleo} {
		a.publishes(c, nil)
	}
	at := a.room(anna, map[string]any{"initial_state": []any{map[string]any{"type": "m.room.encryption", "state_key": "", "content": Encryption()}}})
	place := a.sync(anna, "", "", 0).Next
	a.comes(ben, at, anna)
	n := a.until(anna, place, "", "Ben", func(n syncAnswer) bool { return slices.Contains(n.Lists.Changed, ben.UserID) })
	a.same("a stranger", slices.Contains(n.Lists.Changed, cleo.UserID), false)
	quiet := func() string { // nothing more comes of what has happened
		place := n.Next
		for {
			n := a.sync(anna, place, "", 300*time.Millisecond)
			if len(n.Lists.Changed)+len(n.Lists.Left)+len(n.Rooms.Join) == 0 {
				return n.Next
			}
			place = n.Next
		}
	}
	place = quiet()
	second := a.again(ben)
	a.publishes(second, nil)
	n = a.until(anna, place, "", "a new device", func(n syncAnswer) bool { return slices.Contains(n.Lists.Changed, ben.UserID) })
	place = quiet()
	a.does(second, "POST", "logout", nil)
	n = a.until(anna, place, "", "a device's end", func(n syncAnswer) bool { return slices.Contains(n.Lists.Changed, ben.UserID) })
	place = quiet()
	a.does(cleo, "POST", "keys/upload", map[string]any{"one_time_keys": oneTimeKeys(0, 1)})
	a.does(ben, "POST", "rooms/"+at.String()+"/leave", nil)
	n = a.until(anna, place, "", "leaving", func(n syncAnswer) bool { return slices.Contains(n.Lists.Left, ben.UserID) })
	a.same("a stranger", slices.Contains(n.Lists.Changed, cleo.UserID), false)
}

// A signer signs objects as a device or an account does.
type signer struct {
	user    id.UserID
	public  string // also its name
	private ed25519.PrivateKey
}

func newSigner(user id.UserID, seed byte) signer {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	return signer{user, base64.RawStdEncoding.EncodeToString(private.Public().(ed25519.PublicKey)), private}
}

func (s signer) signs(what map[string]any) map[string]any {
	delete(what, "signatures")
	signature := base64.RawStdEncoding.EncodeToString(ed25519.Sign(s.private, must(json.Marshal(what))))
	what["signatures"] = map[id.UserID]map[string]string{s.user: {"ed25519:" + s.public: signature}}
	return what
}

func (a *asker) crossSigning() {
	anna, ben := a.person("Anna"), a.person("Ben")
	a.publishes(anna, nil)
	user, device := anna.UserID.String(), anna.DeviceID.String()
	var master, self, other signer
	key := func(usage string, of signer) map[string]any {
		return map[string]any{"user_id": user, "usage": []string{usage}, "keys": map[string]string{"ed25519:" + of.public: of.public}}
	}
	upload := func(seed byte) map[string]any {
		master, self, other = newSigner(anna.UserID, seed), newSigner(anna.UserID, seed+1), newSigner(anna.UserID, seed+2)
		return map[string]any{"master_key": key("master", master), "self_signing_key": master.signs(key("self_signing", self)), "user_signing_key": master.signs(key("user_signing", other))}
	}
	a.does(anna, "POST", "keys/device_signing/upload", upload(1)) // the first are taken as they are
	keys := upload(10)
	auth := func(session any, password string) {
		keys["auth"] = map[string]any{"type": "m.login.password", "session": session, "password": password, "user": user, "identifier": map[string]any{"type": "m.id.user", "user": user}}
	}
	asked := a.refusesUI(anna, "POST", "keys/device_signing/upload", keys)
	auth(asked["session"], "wrong")
	if status, _ := a.asks(anna, "POST", "keys/device_signing/upload", keys); status != 401 && status != 403 {
		a.Errorf("a wrong password: %d", status)
	}
	delete(keys, "auth")
	asked = a.refusesUI(anna, "POST", "keys/device_signing/upload", keys)
	auth(asked["session"], passwordOf(anna.UserID.Localpart()))
	a.does(anna, "POST", "keys/device_signing/upload", keys)
	query := func(c *mautrix.Client) map[string]any {
		return a.does(c, "POST", "keys/query", map[string]any{"device_keys": map[string]any{user: []string{}}})
	}
	own := object(object(object(query(anna)["device_keys"])[user])[device])
	delete(own, "unsigned")
	answer := a.does(anna, "POST", "keys/signatures/upload", map[string]any{user: map[string]any{device: self.signs(own)}})
	a.same("signatures that are not taken", len(object(answer["failures"])), 0)
	for _, c := range []*mautrix.Client{anna, ben} {
		got := query(c)
		a.same("the master key", object(object(object(got["master_keys"])[user])["keys"])["ed25519:"+master.public], master.public)
		a.same("the self-signing key", object(object(object(got["self_signing_keys"])[user])["keys"])["ed25519:"+self.public], self.public)
		signatures := object(object(object(object(object(got["device_keys"])[user])[device])["signatures"])[user])
		a.same("the signatures", len(signatures), 2)
	}
	a.same("the user-signing key", object(object(object(query(anna)["user_signing_keys"])[user])["keys"])["ed25519:"+other.public], other.public)
}

// refusesUI sends a request for which a password is asked.
func (a *asker) refusesUI(c *mautrix.Client, method, path string, body any) map[string]any {
	a.Helper()
	status, asked := a.asks(c, method, path, body)
	flows, _ := asked["flows"].([]any)
	if status != 401 || len(flows) == 0 || fmt.Sprint(object(flows[0])["stages"]) != "[m.login.password]" || text(asked["session"]) == "" {
		a.Fatalf("%s %s: %d %v", method, path, status, asked)
	}
	return asked
}

func (a *asker) deletedDevice() {
	anna := a.person("Anna")
	user := anna.UserID.String()
	password := passwordOf(anna.UserID.Localpart())
	second := a.again(anna)
	device := second.DeviceID
	a.same("the device", a.does(anna, "GET", "devices/"+device.String(), nil)["device_id"], device)
	asked := a.refusesUI(anna, "DELETE", "devices/"+device.String(), map[string]any{})
	auth := map[string]any{"type": "m.login.password", "session": asked["session"], "password": password, "user": user, "identifier": map[string]any{"type": "m.id.user", "user": user}}
	a.does(anna, "DELETE", "devices/"+device.String(), map[string]any{"auth": auth})
	a.refuses(second, "GET", "account/whoami", nil, 401, "M_UNKNOWN_TOKEN")
	a.refuses(anna, "GET", "devices/"+device.String(), nil, 404, "M_NOT_FOUND")
}

// Why an answer broke off on its way stands with what Dendrite has logged, for the test that
// fails of it.
func TestWhatBreaksOffIsLogged(t *testing.T) {
	s := &Server{folder: t.TempDir()}
	if err := os.WriteFile(s.logFile(), []byte("dendrite is up\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log.New(appended(s.logFile()), "before Dendrite: ", 0).Print("unexpected EOF")
	if got := s.logEnd(); got != "dendrite is up\nbefore Dendrite: unexpected EOF" {
		t.Error(got)
	}
}
