package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/rules"
)

// This file holds the stored forms of data that is kept as JSON. They are separate from
// the types of bot and rules, so that a name can change there while old rows stay
// readable. A stored field keeps its name for ever.

type storedSetup struct {
	W        int      `json:"w"`
	H        int      `json:"h"`
	Komi     int      `json:"komi,omitempty"` // in half points
	Handicap int      `json:"handicap,omitempty"`
	Black    []string `json:"black,omitempty"`
	White    []string `json:"white,omitempty"`
	First    string   `json:"first,omitempty"`
	NoHints  bool     `json:"noHints,omitempty"`
}

func encodeSetup(s rules.Setup, noHints bool) (string, error) {
	return encode(storedSetup{
		W: s.W, H: s.H, Komi: int(s.Komi), Handicap: s.Handicap,
		Black: pointNames(s.Black), White: pointNames(s.White), First: s.First.Letter(), NoHints: noHints,
	})
}

func decodeSetup(text string) (s rules.Setup, noHints bool, err error) {
	var r storedSetup
	if err := decode(text, &r); err != nil {
		return rules.Setup{}, false, err
	}
	s = rules.Setup{W: r.W, H: r.H, Komi: rules.Points(r.Komi), Handicap: r.Handicap}
	if s.Black, err = points(r.Black, r.W, r.H); err != nil {
		return rules.Setup{}, false, err
	}
	if s.White, err = points(r.White, r.W, r.H); err != nil {
		return rules.Setup{}, false, err
	}
	switch r.First {
	case "B":
		s.First = rules.Black
	case "W":
		s.First = rules.White
	}
	return s, r.NoHints, nil
}

func pointNames(points []rules.Point) []string {
	var names []string
	for _, p := range points {
		names = append(names, p.String())
	}
	return names
}

func points(names []string, w, h int) ([]rules.Point, error) {
	var points []rules.Point
	for _, name := range names {
		p, err := rules.ParsePoint(name, w, h)
		if err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	return points, nil
}

type storedReply struct {
	By       match.PersonID  `json:"by,omitempty"` // who asked, for [answersTo]
	Texts    []bot.Text      `json:"texts,omitempty"`
	Private  bool            `json:"private,omitempty"`
	Controls []storedControl `json:"controls,omitempty"`
	Game     match.GameID    `json:"game,omitempty"`
}

type storedControl struct {
	Label   string            `json:"label"`
	Command string            `json:"command"`
	Args    map[string]string `json:"args,omitempty"`
	Ask     string            `json:"ask,omitempty"`
}

func encodeReply(r match.Reply, by match.PersonID) (string, error) {
	return encode(storedReply{By: by, Texts: r.Texts, Private: r.Private, Controls: storedControls(r.Controls), Game: r.Game})
}

func decodeReply(text string) (match.Reply, error) {
	var s storedReply
	if err := decode(text, &s); err != nil {
		return match.Reply{}, err
	}
	return match.Reply{Texts: s.Texts, Private: s.Private, Controls: controls(s.Controls), Game: s.Game}, nil
}

func storedControls(cs []match.Control) (out []storedControl) {
	for _, c := range cs {
		out = append(out, storedControl(c))
	}
	return out
}

func controls(cs []storedControl) (out []match.Control) {
	for _, c := range cs {
		out = append(out, match.Control(c))
	}
	return out
}

// storedBody is the content of a post and its readers. What queries select by has columns
// of its own.
type storedBody struct {
	Texts  []bot.Text       `json:"texts,omitempty"`
	Notify []match.PersonID `json:"notify,omitempty"`
	Reply  string           `json:"reply,omitempty"`
	Again  bool             `json:"again,omitempty"`

	// Of an answer:
	Question *storedQuestion `json:"question,omitempty"`
	Controls []storedControl `json:"controls,omitempty"`
	Refused  bool            `json:"refused,omitempty"`
	Lang     string          `json:"lang,omitempty"`
	NotAfter int64           `json:"notAfter,omitempty"` // in milliseconds
}

type storedQuestion struct {
	Command   string            `json:"command"`
	Args      map[string]string `json:"args,omitempty"`
	Game      match.GameID      `json:"game,omitempty"`
	Seq       int               `json:"seq,omitempty"`
	Moderator bool              `json:"moderator,omitempty"`
	Except    []string          `json:"except,omitempty"`
}

func encodeBody(p *match.OutboxPost) (string, error) {
	return encode(storedBody{Texts: p.Texts, Notify: p.Notify, Reply: p.Reply, Again: p.Again,
		Question: (*storedQuestion)(p.Question), Controls: storedControls(p.Controls), Refused: p.Refused, Lang: p.Lang, NotAfter: timer(p.NotAfter)})
}

// decodeBody decodes the content of a post into it.
func decodeBody(text string, p *match.OutboxPost) error {
	var s storedBody
	if err := decode(text, &s); err != nil {
		return err
	}
	p.Texts, p.Notify, p.Reply, p.Again = s.Texts, s.Notify, s.Reply, s.Again
	p.Question, p.Controls, p.Refused, p.Lang = (*match.Question)(s.Question), controls(s.Controls), s.Refused, s.Lang
	if s.NotAfter != 0 {
		p.NotAfter = moment(s.NotAfter)
	}
	return nil
}

// alike returns ErrConflict if two values are not stored alike.
func alike[T any](encode func(T) (string, error), is, was T) error {
	a, err1 := encode(is)
	b, err2 := encode(was)
	if err := errors.Join(err1, err2); err != nil || a == b {
		return err
	}
	return bot.ErrConflict
}

// storedPreferences are a person's settings. The person has a column of its own.
type storedPreferences struct {
	Remind string       `json:"remind,omitempty"`
	Zone   string       `json:"zone,omitempty"`
	Quiet  *storedHours `json:"quiet,omitempty"`
	Lang   string       `json:"lang,omitempty"`
	Theme  string       `json:"theme,omitempty"`
	Layout string       `json:"layout,omitempty"`
	Coords string       `json:"coords,omitempty"`
}

type storedHours struct {
	From int `json:"from"` // in minutes after midnight
	To   int `json:"to"`
}

func encodePreferences(p match.Preferences) (string, error) {
	s := storedPreferences{Remind: p.Remind, Zone: p.Zone, Lang: p.Lang, Theme: p.Theme, Layout: p.Layout, Coords: p.Coords}
	if p.Quiet != (clock.Hours{}) {
		s.Quiet = &storedHours{p.Quiet.From, p.Quiet.To}
	}
	return encode(s)
}

func decodePreferences(text string) (match.Preferences, error) {
	var s storedPreferences
	if err := decode(text, &s); err != nil {
		return match.Preferences{}, err
	}
	p := match.Preferences{Remind: s.Remind, Zone: s.Zone, Lang: s.Lang, Theme: s.Theme, Layout: s.Layout, Coords: s.Coords}
	if s.Quiet != nil {
		p.Quiet = clock.Hours{From: s.Quiet.From, To: s.Quiet.To}
	}
	return p, nil
}

// storedRoom holds the settings of a channel. The channel has columns of its own.
type storedRoom struct {
	Rules   string `json:"rules,omitempty"`
	Size    string `json:"size,omitempty"`
	Clock   string `json:"clock,omitempty"`
	Undo    int    `json:"undo,omitempty"` // in seconds
	Opens   string `json:"opens,omitempty"`
	Theme   string `json:"theme,omitempty"`
	Layout  string `json:"layout,omitempty"`
	Coords  string `json:"coords,omitempty"`
	Lang    string `json:"lang,omitempty"`
	Hints   string `json:"hints,omitempty"`
	Letters string `json:"letters,omitempty"`
	Pages   string `json:"pages,omitempty"`
	Since   int64  `json:"since,omitempty"`  // milliseconds of Unix time
	Listed  int64  `json:"listed,omitempty"` // the same
	Events  string `json:"events,omitempty"`
}

func encodeRoom(r match.RoomSettings) (string, error) {
	return encode(storedRoom{r.Rules, r.Size, r.Clock, r.Undo, r.Opens, r.Theme, r.Layout, r.Coords, r.Lang, r.Hints, r.Letters, string(r.Pages), timer(r.Since), timer(r.Listed), r.Events})
}

func decodeRoom(text string) (match.RoomSettings, error) {
	var s storedRoom
	if err := decode(text, &s); err != nil {
		return match.RoomSettings{}, err
	}
	return match.RoomSettings{Rules: s.Rules, Size: s.Size, Clock: s.Clock, Undo: s.Undo, Opens: s.Opens, Theme: s.Theme, Layout: s.Layout, Coords: s.Coords, Lang: s.Lang, Hints: s.Hints, Letters: s.Letters,
		Pages: match.Pages(s.Pages), Since: timed(s.Since), Listed: timed(s.Listed), Events: s.Events}, nil
}

// storedExtra is the content of a message besides what was typed.
type storedExtra struct {
	To       []string         `json:"to,omitempty"` // names; only of earlier releases
	Texts    []bot.Text       `json:"texts,omitempty"`
	Lang     string           `json:"lang,omitempty"`   // of Texts
	Number   int              `json:"number,omitempty"` // of the game that Texts are about
	Notify   []match.PersonID `json:"notify,omitempty"`
	Controls []storedControl  `json:"controls,omitempty"`
	File     *storedFile      `json:"file,omitempty"`
	Question *storedQuestion  `json:"question,omitempty"` // which the file answers
}

type storedFile struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Data []byte `json:"data,omitempty"` // in base64
}

// encodeExtra encodes the content of a message besides what was typed; "" if there is none.
func encodeExtra(m outbox.Message) (string, error) {
	text, err := encode(storedExtra{m.To, m.Texts, m.Lang, m.Number, m.Notify, storedControls(m.Controls), (*storedFile)(m.File), (*storedQuestion)(m.Question)})
	return strings.TrimSuffix(text, "{}"), err
}

// decodeExtra decodes into m what encodeExtra encodes.
func decodeExtra(text string, m *outbox.Message) error {
	if text == "" {
		return nil
	}
	var s storedExtra
	if err := decode(text, &s); err != nil {
		return err
	}
	m.To, m.Texts, m.Lang, m.Number, m.Notify = s.To, s.Texts, s.Lang, s.Number, s.Notify
	m.Controls, m.File, m.Question = controls(s.Controls), (*outbox.File)(s.File), (*match.Question)(s.Question)
	return nil
}

func encode(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write %T: %w", v, err)
	}
	return string(text), nil
}

func decode(text string, v any) error {
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("read %T: %w", v, err)
	}
	return nil
}
