package matrix

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Whatever strangers write and a homeserver tells: the loop goes on, little of it
// is kept, no clock believes it, and no secret comes out. HALFPOINT_TIER=soak makes
// it 100,000 events. The heap is looked at, so that nothing else goes beside it.
func TestHostileEvents(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		size, each := 5000, 500
		switch {
		case tier.Soaking():
			size = 100_000
		case raced:
			size = 1000
		}
		c := newClub(t, s)
		c.cfg.Log = slog.New(slog.NewTextHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.cfg.Person = 0 // as owners have it
		p := c.through()
		w := c.watch()
		c.start()
		g := c.begins("two-button 5x5")
		good := c.room(matrixtest.Room{Name: "Quiet"}, "Carol")[0]
		bad, eve := g.black.at, id.UserID("@eve:elsewhere.test")
		mine := g.shows(" to play, for example ").ID
		h := hostile{rnd: rand.New(rand.NewPCG(9, 10)), eve: eve, bot: c.user.ID, mine: mine, root: g.root}
		rows := func() (n int) {
			if err := c.cfg.DB.QueryRow(t.Context(), "SELECT COUNT(*) FROM matrix_event").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		heap := func() uint64 {
			c.log.forget(p)
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		leaks := map[string]bool{}
		look := func() {
			text := c.log.String()
			for _, secret := range c.canaries() {
				if strings.Contains(text, secret) {
					leaks["the log"] = true
				}
			}
		}
		asked := len(w.in(bad))
		began, before, first := time.Now(), heap(), rows()
		sealed, commands := 0, 0
		for done := 0; done < size; done += each {
			var events []string
			for range each {
				e, kind := h.event()
				switch kind {
				case "sealed":
					sealed++
				case "command":
					commands++
				}
				events = append(events, e)
			}
			good.faults(p, splices(bad, events))
			if done%1000 == 0 { // others do not notice
				good.asks("", "!games")
				look()
				c.log.forget(p)
			}
		}
		good.asks("", "!games")
		c.await("the last hostile event", func() bool { r, err := c.a.queue.next(t.Context(), bad); return err == nil && r == nil })
		took := time.Since(began)
		look()
		after := heap()
		t.Logf("%d hostile events: %+d KiB of heap, %d rows of which %d encrypted and %d like commands", size, (int64(after)-int64(before))>>10, rows()-first, sealed, commands)
		if after > before+32<<20 {
			t.Errorf("%d bytes of heap before, %d after", before, after)
		}
		if n := rows() - first; n > sealed+commands+size/each+20 {
			t.Errorf("%d rows on disk", n)
		}
		if err := c.a.queue.forget(t.Context(), time.Now().Add(2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if n := rows() - first; n > commands+size/each+20 {
			t.Errorf("%d rows are kept", n)
		}
		// No time that a homeserver claims is believed, and nobody was heard but people.
		w.mu.Lock()
		for _, r := range w.asked {
			if !r.At.IsZero() {
				t.Errorf("%s claims to be of %v", r.ID, r.At)
			}
		}
		w.mu.Unlock()
		if n := len(w.in(bad)) - asked; n > personAtOnce+int(took.Minutes()*personPerMinute)+2 {
			t.Errorf("%d were asked in %v", n, took)
		}
		if room := c.a.room(bad); !room.joined || room.known != bad || c.a.current(bad).id != bad {
			t.Errorf("the room is %+v", room)
		}
		// The game goes on.
		g.black.asks(g.root, "!place C3")
		g.shows("Black C3")

		// Failures that quote what they failed at.
		for _, fault := range []matrixtest.Fault{matrixtest.UnknownToken(true), matrixtest.Fails(403, "M_FORBIDDEN"), matrixtest.Cuts(), matrixtest.Fails(500, "M_UNKNOWN")} {
			good.faults(p, fault)
			good.asks("", "!games")
		}
		uploads, sends := p.Once(matrixtest.Uploading, matrixtest.Fails(500, "")), p.Once(matrixtest.On("PUT", "/send/m.room.message/"), matrixtest.Fails(500, ""))
		g.white.SaysIn(g.white.at, g.root, "!place C4")
		g.shows("White C4")
		if uploads.Made() != 1 || sends.Made() != 1 {
			t.Errorf("of an upload and a send %d and %d failed", uploads.Made(), sends.Made())
		}
		look()
		for table, text := range c.dump() {
			for _, secret := range c.canaries() {
				if strings.Contains(text, secret) && table != "matrix_device" {
					leaks["table "+table] = true
				}
			}
		}
		for where := range leaks {
			t.Errorf("a secret is in %s", where)
		}
		// The token cannot be replaced without them: they are found where they belong.
		if text := c.dump()["matrix_device"]; !strings.Contains(text, c.a.device().Client.AccessToken) {
			t.Error("the token is not even in its table, so that nothing was looked for")
		}
	})
}

// canaries are what must not come out.
func (c *club) canaries() []string {
	out := []string{c.cfg.Password.Reveal()}
	if dev := c.a.device(); dev != nil {
		out = append(out, dev.Client.AccessToken)
		if !dev.Recovery.IsZero() {
			out = append(out, dev.Recovery.Reveal())
		}
	}
	return out
}

// dump returns what is in each table, as text.
func (c *club) dump() map[string]string {
	c.Helper()
	out := map[string]string{}
	for _, name := range c.column("SELECT name FROM sqlite_master WHERE type = 'table'") {
		columns := c.column("SELECT 'COALESCE(CAST(\"' || name || '\" AS TEXT), 0)' FROM pragma_table_info($1)", name)
		out[name] = strings.Join(c.column("SELECT "+strings.Join(columns, " || char(10) || ")+" FROM "+name), "\n")
	}
	return out
}

// column returns what a query finds.
func (c *club) column(query string, args ...any) []string {
	c.Helper()
	list, err := dbutil.ConvertRowFn[string](dbutil.ScanSingleColumn[string]).NewRowIter(c.cfg.DB.Query(context.Background(), query, args...)).AsList()
	if err != nil {
		c.Fatal(err)
	}
	return list
}

// forget empties the log, and what the proxy has written down.
func (l *lockedBuffer) forget(p *matrixtest.Proxy) {
	p.Forget()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}

// splices puts events at the end of a room's timeline, however odd their JSON.
func splices(room id.RoomID, events []string) matrixtest.Fault {
	return func(x *matrixtest.Exchange) {
		query := x.R.URL.Query()
		query.Set("timeout", "0")
		x.R.URL.RawQuery = query.Encode()
		matrixtest.Changes(func(body []byte) []byte {
			whole := map[string]any{}
			_ = json.Unmarshal(body, &whole)
			at := whole
			for _, name := range []string{"rooms", "join", room.String(), "timeline"} {
				next, _ := at[name].(map[string]any)
				if next == nil {
					next = map[string]any{}
				}
				at[name] = next
				at = next
			}
			list, _ := at["events"].([]any)
			at["events"] = append(list, "here")
			body, _ = json.Marshal(whole)
			return []byte(strings.Replace(string(body), `"here"`, strings.Join(events, ","), 1))
		})(x)
	}
}

// hostile makes events that nobody would send who means well.
type hostile struct {
	rnd        *rand.Rand
	eve, bot   id.UserID
	mine, root id.EventID // of the bot
	n          int
}

func (h *hostile) event() (json, kind string) {
	h.n++
	e := id.EventID(fmt.Sprintf("$hostile-%d", h.n))
	year := int64(365 * 24 * time.Hour / time.Millisecond)
	at := time.Now().UnixMilli() + (h.rnd.Int64N(20*year) - 10*year)
	raw := func(kind, content, more string) string {
		return fmt.Sprintf(`{"event_id":%q,"sender":%q,"type":%q,"origin_server_ts":%d,"content":%s%s}`, e, h.eve, kind, at, content, more)
	}
	message := func(content string) string { return raw("m.room.message", content, "") }
	switch h.rnd.IntN(16) {
	case 0:
		return matrixtest.BigEvent(e, h.eve, 60_000+h.rnd.IntN(5_500)), ""
	case 1:
		return matrixtest.DeepEvent(e, h.eve, []int{50, 1_000, 9_990, 12_000}[h.rnd.IntN(4)]), ""
	case 2:
		return matrixtest.MessageEvent(e, h.eve, at, "!place C3"), "command"
	case 3:
		return raw("m.room.member", fmt.Sprintf(`{"membership":"join","displayname":%q}`, strings.Repeat("\u202e", h.rnd.IntN(300))), fmt.Sprintf(`,"state_key":"@member-%d:elsewhere.test"`, h.n)), ""
	case 4:
		return raw("m.room.redaction", `{}`, fmt.Sprintf(`,"redacts":%q`, h.mine)), ""
	case 5:
		return raw("m.room.redaction", fmt.Sprintf(`{"redacts":%q}`, h.root), ""), ""
	case 6:
		return raw("m.room.encrypted", fmt.Sprintf(`{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"AwgA%d","session_id":"s%d","sender_key":"k","device_id":"D"}`, h.n, h.rnd.IntN(100)), ""), "sealed"
	case 7:
		return raw("m.room.encrypted", `{"algorithm":7}`, ""), "sealed"
	case 8:
		return raw("m.reaction", fmt.Sprintf(`{"m.relates_to":{"rel_type":"m.annotation","event_id":%q,"key":%q}}`, h.mine, strings.Repeat("x", h.rnd.IntN(3000))), ""), ""
	case 9:
		return message(fmt.Sprintf(`{"msgtype":"m.text","body":"* !resign","m.new_content":{"msgtype":"m.text","body":"!resign"},"m.relates_to":{"rel_type":"m.replace","event_id":%q}}`, h.mine)), "command"
	case 10:
		return raw("m.room.tombstone", `{"replacement_room":"!mine:elsewhere.test","body":"come"}`, ""), ""
	case 11:
		return message(`{"msgtype":"m.text","body":` + []string{`7`, `null`, `{"a":[]}`, `["!resign"]`}[h.rnd.IntN(4)] + `}`), ""
	case 12:
		return message(`{"msgtype":{},"body":"!resign","m.relates_to":"x","m.mentions":[1]}`), ""
	case 13:
		return raw(strings.Repeat("x", h.rnd.IntN(3000)), `{"a":1e400}`, ""), ""
	case 14:
		return []string{`null`, `7`, `{}`, `{"event_id":7}`, `{"type":"m.room.message"}`, `[]`}[h.rnd.IntN(6)], ""
	}
	return message(fmt.Sprintf(`{"msgtype":"m.text","body":"%s","format":"org.matrix.custom.html","formatted_body":"%s"}`, strings.Repeat("!", h.rnd.IntN(500)), strings.Repeat("<a href='x'>", h.rnd.IntN(500)))), ""
}

// A value nested too deep is read as 0, and nothing else changes.
func TestFlat(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":[`, n/2) + `1` + strings.Repeat(`]}`, n/2) }
	for in, want := range map[string]string{
		`{"a":"[[{{","b":"\"[","c":"\\"}`: `{"a":"[[{{","b":"\"[","c":"\\"}`,
		deep(maxDepth):                    deep(maxDepth),
		`[` + deep(maxDepth) + `,"]"]`:    `[` + strings.Replace(deep(maxDepth), "[1]", "0", 1) + `,"]"]`,
		`[` + deep(20_000) + `,2]`:        "",
	} {
		for _, size := range []int{1, 7, 100_000} {
			got, err := io.ReadAll(&flatBody{ReadCloser: io.NopCloser(&drips{strings.NewReader(in), size})})
			if err != nil || want != "" && string(got) != want {
				t.Errorf("%.60s… by %d becomes %.60s…, %v", in, size, got, err)
			}
			var v any
			if err := json.Unmarshal(got, &v); err != nil {
				t.Errorf("%.60s… by %d becomes what is no JSON: %v", in, size, err)
			}
		}
	}
	resp, err := flat{answers(`[]`)}.RoundTrip(&http.Request{})
	if err != nil || resp.Body == nil {
		t.Error(err)
	}
}

type answers string

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

type drips struct {
	io.Reader
	size int
}

func (d *drips) Read(p []byte) (int, error) { return d.Reader.Read(p[:min(len(p), d.size)]) }
