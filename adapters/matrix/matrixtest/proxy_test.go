package matrixtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// A person behind a proxy, with a client that tries nothing twice, and one who
// sees what the homeserver has.
func behind(t *testing.T, s *Server) (p *Proxy, client *mautrix.Client, room id.RoomID, witness *Player) {
	t.Helper()
	p = s.Proxy(t)
	witness = s.Player(t, "Witness")
	user := s.Register(t, "Anna")
	client = s.Client(t, p.URL, user)
	room = witness.Makes(Room{Name: "Go", Invite: []id.UserID{user.ID}})
	if _, err := client.JoinRoomByID(t.Context(), room); err != nil {
		t.Fatal(err)
	}
	witness.Await(room, "Anna", func(v View) bool { return v.Members[user.ID] == "join" })
	return p, client, room, witness
}

func say(client *mautrix.Client, room id.RoomID, body string) error {
	_, err := client.SendMessageEvent(context.Background(), room, event.EventMessage, words(body), mautrix.ReqSendEvent{TransactionID: body})
	return err
}

func TestFaultsBeforeTheHomeserver(t *testing.T) {
	t.Parallel()
	Each(t, func(t *testing.T, s *Server) {
		p, client, room, witness := behind(t, s)
		refused := func(what string, err error, status int, code string) map[string]any {
			t.Helper()
			var answer mautrix.HTTPError
			if !errors.As(err, &answer) || answer.Response == nil || answer.Response.StatusCode != status {
				t.Fatalf("%s: %v", what, err)
			}
			if code == "" {
				return nil
			}
			if answer.RespError == nil || answer.RespError.ErrCode != code {
				t.Fatalf("%s: %v", what, err)
			}
			return answer.RespError.ExtraData
		}
		p.Once(Sending, TooMany(1500*time.Millisecond))
		if more := refused("a limit", say(client, room, "one"), 429, "M_LIMIT_EXCEEDED"); more["retry_after_ms"] != 1500.0 {
			t.Errorf("a limit says %v", more)
		}
		p.Times(2, Sending, Fails(503, "M_UNKNOWN"))
		p.Once(Sending, Fails(502, ""))
		refused("an error", say(client, room, "one"), 503, "M_UNKNOWN")
		refused("an error", say(client, room, "one"), 503, "M_UNKNOWN")
		refused("an error", say(client, room, "one"), 502, "")
		p.Once(Sending, UnknownToken(true))
		if more := refused("a token", say(client, room, "one"), 401, "M_UNKNOWN_TOKEN"); more["soft_logout"] != true {
			t.Errorf("a token says %v", more)
		}
		p.Once(Syncing, UnknownPosition())
		_, err := client.SyncRequest(t.Context(), 0, "", "", false, "")
		refused("a position", err, 400, "M_UNKNOWN_POS")
		p.Once(Sending, Cuts())
		if err := say(client, room, "one"); err == nil || errors.As(err, new(mautrix.RespError)) {
			t.Errorf("a cut: %v", err)
		}
		if err := say(client, room, "two"); err != nil {
			t.Fatal(err)
		}
		v := witness.Await(room, "two", func(v View) bool { return len(v.Messages) > 0 })
		if len(v.Messages) != 1 || v.Messages[0].Body != "two" {
			t.Errorf("the homeserver has heard\n%s", v)
		}
		list := p.Requests(Sending)
		if len(list) != 7 || list[5].Status != 0 || !list[5].Fault || list[6].Status != 200 || list[6].Fault || !strings.Contains(string(list[6].Body), `"two"`) {
			t.Errorf("written down are\n%s\n%+v", Paths(list), list)
		}
	})
}

func TestALostAnswer(t *testing.T) {
	t.Parallel()
	Each(t, func(t *testing.T, s *Server) {
		p, client, room, witness := behind(t, s)
		for n, fault := range []Fault{Loses(), Halves()} {
			body := fmt.Sprint("lost ", n)
			p.Once(Sending, fault)
			if err := say(client, room, body); err == nil {
				t.Fatal("there was an answer")
			}
			witness.Await(room, body, func(v View) bool { return len(v.Messages) == n+1 })
			// The homeserver knows the transaction.
			if err := say(client, room, body); err != nil {
				t.Fatal(err)
			}
		}
		last := witness.Says(room, "end")
		var got []string
		for _, m := range witness.View(room).Messages {
			got = append(got, m.Body)
			if m.ID == last {
				break
			}
		}
		if strings.Join(got, ", ") != "lost 0, lost 1, end" {
			t.Errorf("the room has %q", got)
		}
	})
}

func TestHeldRequestsAndAnswers(t *testing.T) {
	t.Parallel()
	Each(t, func(t *testing.T, s *Server) {
		p, client, room, witness := behind(t, s)
		until, done := make(chan struct{}), make(chan error, 1)
		held := p.Once(Sending, Holds(until))
		go func() { done <- say(client, room, "held") }()
		held.Await(t, 1)
		if err := say(client, room, "first"); err != nil {
			t.Fatal(err)
		}
		close(until)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		until = make(chan struct{})
		p.Once(Sending, HoldsAnswer(until))
		go func() { done <- say(client, room, "answered late") }()
		v := witness.Await(room, "three messages", func(v View) bool { return len(v.Messages) == 3 })
		select {
		case err := <-done:
			t.Fatalf("answered before its time: %v", err)
		default:
		}
		close(until)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if v.Messages[0].Body != "first" || v.Messages[1].Body != "held" || v.Messages[2].Body != "answered late" {
			t.Errorf("the room is\n%s", v)
		}
		begun := time.Now()
		p.Once(Sending, Waits(50*time.Millisecond))
		if err := say(client, room, "waited"); err != nil || time.Since(begun) < 50*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}

func syncOnce(client *mautrix.Client, since string) ([]byte, error) {
	query := map[string]string{"timeout": "600000"}
	if since != "" {
		query["since"] = since
	}
	return client.MakeFullRequest(context.Background(), mautrix.FullRequest{Method: "GET", URL: client.BuildURLWithQuery(mautrix.ClientURLPath{"v3", "sync"}, query)})
}

func TestAGapOnlyMessagesFills(t *testing.T) {
	t.Parallel()
	Each(t, func(t *testing.T, s *Server) {
		p := s.Proxy(t)
		short := p.Always(Syncing, Shortens(2))
		witness := s.Player(t, "Witness")
		reader := s.NewPlayer(t, p.URL, s.Register(t, "Anna"))
		room := witness.Makes(Room{Name: "Go", Invite: []id.UserID{reader.ID}})
		reader.Joins(room)
		until := make(chan struct{})
		p.Once(Syncing, Holds(until)) // a sync that waits already comes back and is held
		for n := range 30 {
			witness.Says(room, fmt.Sprint("move ", n))
		}
		filled := len(p.Requests(Backfilling))
		close(until)
		last := witness.Says(room, "end")
		reader.AwaitEvent(room, last)
		witness.AwaitEvent(room, last)
		if got, want := reader.Sees(room), witness.Sees(room); got != want {
			t.Errorf("behind the proxy is seen\n%s\nnot\n%s", got, want)
		}
		if short.Made() == 0 || len(p.Requests(Backfilling)) == filled {
			t.Errorf("%d short answers and %d requests for /messages", short.Made(), len(p.Requests(Backfilling))-filled)
		}
	})
}

func TestALimitOfMessages(t *testing.T) {
	t.Parallel()
	Each(t, func(t *testing.T, s *Server) {
		p, client, room, _ := behind(t, s)
		p.Limit(Sending, 10, 3)
		begun := time.Now()
		for sent := 0; sent < 5; {
			err := say(client, room, fmt.Sprint("move ", sent))
			var answer mautrix.HTTPError
			switch {
			case err == nil:
				sent++
			case errors.As(err, &answer) && answer.RespError != nil && answer.RespError.ErrCode == "M_LIMIT_EXCEEDED":
				wait, _ := answer.RespError.ExtraData["retry_after_ms"].(float64)
				if wait <= 0 || wait > 100 {
					t.Fatalf("wait %v ms", wait)
				}
				time.Sleep(time.Duration(wait) * time.Millisecond)
			default:
				t.Fatal(err)
			}
		}
		// Three at once, two more at 10 a second.
		if took := time.Since(begun); took < 190*time.Millisecond {
			t.Errorf("five messages in %v", took)
		}
	})
}

func TestAProxyLooksAgainAtASyncThatWaits(t *testing.T) {
	t.Parallel()
	Bubble(t, func(t *testing.T, s *Server) {
		p, client, room, witness := behind(t, s)
		since, done := "", make(chan error, 1)
		// It reads along until something fails or there are these words.
		read := func(until string) {
			for {
				body, err := syncOnce(client, since)
				if err != nil || strings.Contains(string(body), until) {
					done <- err
					return
				}
				var news syncAnswer
				json.Unmarshal(body, &news)
				since = news.Next
			}
		}
		go read("never said")
		synctest.Wait()
		p.Once(Syncing, UnknownToken(false))
		var answer mautrix.HTTPError
		if err := <-done; !errors.As(err, &answer) || answer.RespError == nil || answer.RespError.ErrCode != "M_UNKNOWN_TOKEN" {
			t.Fatal(err)
		}
		go read("never said")
		synctest.Wait()
		down := p.Always(Any, Cuts())
		if err := <-done; err == nil || errors.As(err, &answer) && answer.RespError != nil {
			t.Fatalf("%v", err)
		}
		down.Stop()
		go read("the end")
		synctest.Wait()
		asked := len(p.Requests(Syncing))
		p.Once(Uploading, Cuts()) // an order for other requests has nothing asked again
		witness.Says(room, "the end")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if p.Requests(Syncing)[asked-1].Fault {
			t.Error("a fault of another's")
		}
	})
}
