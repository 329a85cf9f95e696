package matrixtest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"maunium.net/go/mautrix/id"
)

// A Fault deals with a request in the homeserver's place. Tests may write
// their own.
type Fault func(*Exchange)

func matrixError(code, says string, more string) string {
	return fmt.Sprintf(`{"errcode":%q,"error":%q%s}`, code, says, more)
}

// TooMany answers 429, M_LIMIT_EXCEEDED with retry_after_ms and Retry-After
// (in whole seconds, rounded up), and asks nobody.
func TooMany(wait time.Duration) Fault {
	return func(x *Exchange) {
		x.W.Header().Set("Retry-After", fmt.Sprint(int(math.Ceil(wait.Seconds()))))
		x.Say(http.StatusTooManyRequests, "application/json", matrixError("M_LIMIT_EXCEEDED", "Too Many Requests", fmt.Sprintf(`,"retry_after_ms":%d`, wait.Milliseconds())))
	}
}

// Fails answers with that status and asks nobody: with an error code as a
// homeserver does, without one in HTML as the servers before it do.
func Fails(status int, code string) Fault {
	return func(x *Exchange) {
		if code == "" {
			x.Say(status, "text/html", fmt.Sprintf("<html><head><title>%d %s</title></head><body>nginx</body></html>", status, http.StatusText(status)))
			return
		}
		x.Say(status, "application/json", matrixError(code, http.StatusText(status), ""))
	}
}

// UnknownPosition answers 400, M_UNKNOWN_POS: the homeserver has forgotten a
// position in the stream.
func UnknownPosition() Fault { return Fails(http.StatusBadRequest, "M_UNKNOWN_POS") }

// UnknownToken answers 401, M_UNKNOWN_TOKEN: the device was logged out, softly
// or for good.
func UnknownToken(soft bool) Fault {
	return func(x *Exchange) {
		x.Say(http.StatusUnauthorized, "application/json", matrixError("M_UNKNOWN_TOKEN", "Unknown token", fmt.Sprintf(`,"soft_logout":%t`, soft)))
	}
}

// Cuts breaks the connection; the homeserver hears nothing. A Go client tries
// a GET once more by itself when it had used the connection before.
func Cuts() Fault { return func(x *Exchange) { x.Cut() } }

// Loses lets the homeserver do what is asked and breaks the connection instead
// of answering.
func Loses() Fault {
	return func(x *Exchange) {
		x.Forward()
		x.Cut()
	}
}

// Halves passes on half of the answer's body and breaks the connection.
func Halves() Fault {
	return func(x *Exchange) {
		r, err := x.Forward()
		if err != nil {
			x.Cut()
		}
		x.W.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		x.W.Header().Set("Content-Length", fmt.Sprint(len(r.Body)))
		x.W.WriteHeader(r.Status)
		x.W.Write(r.Body[:len(r.Body)/2])
		http.NewResponseController(x.W).Flush()
		x.Cut()
	}
}

// Waits lets that time pass before the homeserver is asked.
func Waits(d time.Duration) Fault {
	return func(x *Exchange) {
		select {
		case <-time.After(d):
			x.Pass()
		case <-x.R.Context().Done():
		}
	}
}

// Holds keeps the request back until the channel is closed. Whoever gives up
// before has asked nothing.
func Holds(until <-chan struct{}) Fault {
	return func(x *Exchange) {
		select {
		case <-until:
			x.Pass()
		case <-x.R.Context().Done():
		}
	}
}

// HoldsAnswer lets the homeserver do what is asked at once and keeps the answer
// back until the channel is closed.
func HoldsAnswer(until <-chan struct{}) Fault {
	return func(x *Exchange) {
		r, err := x.Forward()
		if err != nil {
			x.Cut()
		}
		select {
		case <-until:
			x.Answer(r)
		case <-x.R.Context().Done():
		}
	}
}

// Changes passes on an answer of 200 with another body.
func Changes(change func(body []byte) []byte) Fault {
	return func(x *Exchange) {
		r, err := x.Forward()
		if err != nil {
			x.Cut()
		}
		if r.Status == http.StatusOK {
			r.Body = change(r.Body)
		}
		x.Answer(r)
	}
}

// Shortens lets the homeserver give at most n events of each room's timeline:
// when there are more since the last /sync, the timeline is limited, and the
// rest is to be had from /messages alone. The positions are the homeserver's
// own. The filter of the request is not one that was stored.
func Shortens(n int) Fault {
	return func(x *Exchange) {
		query := x.R.URL.Query()
		filter := within(json.RawMessage(query.Get("filter")), func(json.RawMessage) json.RawMessage { return json.RawMessage(fmt.Sprint(n)) }, "room", "timeline", "limit")
		query.Set("filter", string(filter))
		x.R.URL.RawQuery = query.Encode()
		x.Pass()
	}
}

// within changes what stands at the path of a JSON object; what is not there is
// made. Everything else stays byte for byte.
func within(doc json.RawMessage, change func(json.RawMessage) json.RawMessage, path ...string) json.RawMessage {
	if len(path) == 0 {
		return change(doc)
	}
	fields := map[string]json.RawMessage{}
	if len(doc) > 0 {
		if err := json.Unmarshal(doc, &fields); err != nil || fields == nil {
			fields = map[string]json.RawMessage{}
		}
	}
	fields[path[0]] = within(fields[path[0]], change, path[1:]...)
	return must(json.Marshal(fields))
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

// Limit lets each access token do what matches perSecond times a second, burst
// times at once, as Synapse does with messages (0.2 and 10 by default): what is
// too much is answered 429 and not passed on. It counts only what no earlier
// order took.
func (p *Proxy) Limit(m Match, perSecond float64, burst int) *Order {
	var mu sync.Mutex
	spent := map[string]float64{} // requests not yet forgiven
	last := map[string]time.Time{}
	return p.Always(m, func(x *Exchange) {
		mu.Lock()
		token, now := x.Request.Token, time.Now()
		spent[token] = max(0, spent[token]-now.Sub(last[token]).Seconds()*perSecond)
		last[token] = now
		wait := (spent[token] + 1 - float64(burst)) / perSecond
		if wait <= 0 {
			spent[token]++
		}
		mu.Unlock()
		if wait > 0 {
			TooMany(time.Duration(math.Ceil(wait*1000)) * time.Millisecond)(x)
			return
		}
		x.Pass()
	})
}

// MessageEvent is the JSON of an event of a text message; the time
// may be any number.
func MessageEvent(event id.EventID, sender id.UserID, milliseconds int64, body string) string {
	return string(must(json.Marshal(map[string]any{
		"event_id": event, "sender": sender, "type": "m.room.message", "origin_server_ts": milliseconds,
		"content": map[string]any{"msgtype": "m.text", "body": body, "m.mentions": map[string]any{}},
	})))
}

// DeepEvent is the JSON of a message whose content holds lists within lists.
func DeepEvent(event id.EventID, sender id.UserID, depth int) string {
	deep := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	return fmt.Sprintf(`{"event_id":%q,"sender":%q,"type":"m.room.message","origin_server_ts":1,"content":{"msgtype":"m.text","body":"deep","deep":%s}}`, event, sender, deep)
}

// BigEvent is the JSON of a message of that many bytes; the specification
// allows 65,536.
func BigEvent(event id.EventID, sender id.UserID, size int) string {
	bare := MessageEvent(event, sender, 1, "")
	return MessageEvent(event, sender, 1, strings.Repeat("x", max(0, size-len(bare))))
}

// Paths are the methods and paths of requests, for messages of tests.
func Paths(list []Request) string {
	var lines []string
	for _, r := range list {
		lines = append(lines, fmt.Sprintf("%s %s → %d", r.Method, r.Path, r.Status))
	}
	return strings.Join(lines, "\n")
}
