package matrix

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// The homeserver's answers hold strangers' texts. An event that
// cannot be read must not make the whole answer unreadable: the loop would ask
// for it for ever.

// readSync reads what /sync answers. Events that are not what events are are
// left out, and counted.
func readSync(data []byte) (resp *mautrix.RespSync, bad int, err error) {
	var whole struct {
		mautrix.RespSync
		ToDevice looseEvents `json:"to_device"`
		Rooms    struct {
			Join   map[id.RoomID]*looseRoom `json:"join"`
			Invite map[id.RoomID]*struct {
				State looseEvents `json:"invite_state"`
			} `json:"invite"`
			Leave map[id.RoomID]any `json:"leave"`
		} `json:"rooms"`
		AccountData any `json:"account_data"`
		Presence    any `json:"presence"`
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, 0, err
	}
	resp = &whole.RespSync
	resp.ToDevice.Events = readEvents(whole.ToDevice.Events, &bad)
	resp.Rooms = mautrix.RespSyncRooms{Join: map[id.RoomID]*mautrix.SyncJoinedRoom{}, Invite: map[id.RoomID]*mautrix.SyncInvitedRoom{}, Leave: map[id.RoomID]*mautrix.SyncLeftRoom{}}
	for at, r := range whole.Rooms.Join {
		if r != nil {
			j := &mautrix.SyncJoinedRoom{Summary: r.Summary}
			j.State.Events = readEvents(r.State.Events, &bad)
			j.Timeline.Events, j.Timeline.Limited, j.Timeline.PrevBatch = readEvents(r.Timeline.Events, &bad), r.Timeline.Limited, r.Timeline.PrevBatch
			resp.Rooms.Join[at] = j
		}
	}
	for at, r := range whole.Rooms.Invite {
		if r != nil {
			invite := &mautrix.SyncInvitedRoom{}
			invite.State.Events = readEvents(r.State.Events, &bad)
			resp.Rooms.Invite[at] = invite
		}
	}
	for at := range whole.Rooms.Leave {
		resp.Rooms.Leave[at] = &mautrix.SyncLeftRoom{}
	}
	return resp, bad, nil
}

type looseRoom struct {
	Summary  mautrix.LazyLoadSummary `json:"summary"`
	State    looseEvents             `json:"state"`
	Timeline struct {
		looseEvents
		Limited   bool   `json:"limited"`
		PrevBatch string `json:"prev_batch"`
	} `json:"timeline"`
}

type looseEvents struct {
	Events []json.RawMessage `json:"events"`
}

// readEvents reads events, and counts those that cannot be read.
func readEvents(raw []json.RawMessage, bad *int) (out []*event.Event) {
	for _, data := range raw {
		var e *event.Event
		if err := json.Unmarshal(data, &e); err != nil || e == nil {
			*bad++
			continue
		}
		out = append(out, e)
	}
	return out
}

// readPage reads what /messages answers.
func readPage(data []byte) (events []*event.Event, end string, bad int, err error) {
	var p struct {
		Chunk []json.RawMessage `json:"chunk"`
		End   string            `json:"end"`
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, "", 0, err
	}
	events = readEvents(p.Chunk, &bad)
	return events, p.End, bad, nil
}

// maxDepth is how deep objects and lists may lie in each other in an answer of
// the homeserver; what lies deeper is read as 0. Go reads nothing of an answer
// in which anything lies deeper than 10,000.
const maxDepth = 200

// A flat makes answers readable that hold something too deep.
type flat struct{ http.RoundTripper }

func (f flat) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := f.RoundTripper.RoundTrip(req)
	if err == nil && strings.Contains(resp.Header.Get("Content-Type"), "json") {
		resp.Body = &flatBody{ReadCloser: resp.Body}
	}
	return resp, err
}

type flatBody struct {
	io.ReadCloser
	depth           int
	quoted, escaped bool
}

func (f *flatBody) Read(p []byte) (int, error) {
	for {
		n, err := f.ReadCloser.Read(p)
		out := p[:0]
		for _, c := range p[:n] {
			deep := f.depth > maxDepth
			switch {
			case f.escaped:
				f.escaped = false
			case f.quoted:
				f.escaped, f.quoted = c == '\\', c != '"'
			case c == '"':
				f.quoted = true
			case c == '{' || c == '[':
				if f.depth++; f.depth == maxDepth+1 {
					out = append(out, '0')
				}
				deep = deep || f.depth > maxDepth
			case c == '}' || c == ']':
				f.depth--
			}
			if !deep {
				out = append(out, c)
			}
		}
		if len(out) > 0 || err != nil || len(p) == 0 {
			return len(out), err
		}
	}
}
