package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// The data about a person, and how it is deleted. Games, posts and answers refer to
// people by ids that mean nothing without the table of persons. Names are only in that
// table, in what people type in the local room and what earlier releases stored of it, and
// in what is to be done for somebody who is being forgotten.

// privacy shows a person their stored data, or asks whether to delete it.
func privacy(q *question) outbox.Post {
	l := q.localizer
	switch what := strings.ToLower(strings.TrimSpace(q.req.Args["what"])); {
	case what == "export":
		file, err := q.b.known(q.ctx, l, q.req.Who)
		if err != nil {
			return q.failed(err)
		}
		a := l.tell(say("privacy.export"))
		a.File = file
		return a
	case what == "delete":
		ms, err := q.b.store.Matches(q.ctx, Query{Player: q.by, States: []match.State{match.Open, match.Going}, Limit: maxKnown})
		if err != nil {
			return q.failed(err)
		}
		sure := say("privacy.sure", len(ms))
		if len(ms) == 0 {
			sure = say("privacy.certain")
		}
		a := l.tell(sure)
		a.Controls = []match.Control{{Label: q.lang.Say(say("privacy.button")), Command: "privacy", Args: map[string]string{"what": "delete", "confirm": "yes"}}}
		return a
	case what == "" && q.req.Who.Platform == LogPlatform:
		return l.tell(say("privacy"), say("privacy.events"), say("privacy.room"))
	case what == "":
		return l.tell(say("privacy"), say("privacy.events"))
	default:
		return l.refuse(say("privacy.what", shortened(what)))
	}
}

// Forgets reports whether somebody asks to be forgotten, and confirms it, so that an
// adapter forgets them, too.
func (r Request) Forgets() bool {
	return r.Command == "privacy" && strings.EqualFold(strings.TrimSpace(r.Args["what"]), "delete") && yesOrNo[strings.ToLower(strings.TrimSpace(r.Args["confirm"]))]
}

// maxKnown is how many games an export lists.
const maxKnown = 10_000

// known returns everything stored about a person, as JSON.
func (b *Bot) known(ctx context.Context, s localizer, who outbox.User) (*outbox.File, error) {
	by, l := s.by, s.mine
	type game struct {
		Number  int         `json:"number"`
		Channel string      `json:"channel"`
		Rules   string      `json:"rules"`
		Black   bool        `json:"black"`
		White   bool        `json:"white"`
		State   match.State `json:"state"`
		Result  string      `json:"result,omitempty"`
		Opened  time.Time   `json:"opened"`
	}
	type browser struct {
		Name  string    `json:"name"`
		Since time.Time `json:"since"`
	}
	type record struct {
		Page    string    `json:"page"`
		Channel string    `json:"channel,omitempty"` // where it was shown
		Name    string    `json:"name,omitempty"`    // of its file
		Shared  bool      `json:"shared,omitempty"`
		Visited time.Time `json:"visited"`
		Text    string    `json:"text"`
	}
	type event struct {
		Game match.GameID `json:"game"`
		At   time.Time    `json:"at"`
		Body string       `json:"what"`
	}
	type organised struct {
		Event     contest.ID    `json:"event"`
		Title     string        `json:"title"`
		Number    int           `json:"number"`
		Channel   string        `json:"channel"`
		State     contest.State `json:"state"`
		Organises bool          `json:"organises,omitempty"`
		Plays     bool          `json:"plays,omitempty"`
		Rank      string        `json:"rank,omitempty"`
	}
	type step struct {
		Event contest.ID   `json:"event"`
		At    time.Time    `json:"at"`
		Body  contest.Body `json:"what"`
	}
	type act struct {
		Channel string    `json:"channel,omitempty"`
		Server  string    `json:"server,omitempty"`
		At      time.Time `json:"at"`
		What    Text      `json:"what"`
	}
	type line struct {
		At      time.Time `json:"at"`
		From    string    `json:"from,omitempty"` // empty: the bot
		Text    string    `json:"text,omitempty"`
		File    string    `json:"file,omitempty"`
		Diagram string    `json:"diagram,omitempty"` // that they showed
	}
	out := struct {
		Platform    string         `json:"platform"`
		ID          string         `json:"id"`
		Name        string         `json:"name"`
		Person      match.PersonID `json:"person"`
		Remind      string         `json:"remind,omitempty"`
		Zone        string         `json:"zone,omitempty"`
		Quiet       string         `json:"quiet,omitempty"`
		Language    string         `json:"language,omitempty"`
		Theme       string         `json:"theme,omitempty"`
		Layout      string         `json:"layout,omitempty"`
		Coordinates string         `json:"coordinates,omitempty"`
		Browsers    []browser      `json:"browsers,omitempty"` // that are the person on pages
		Records     []record       `json:"records,omitempty"`  // that have pages
		Games       []game         `json:"games"`
		Events      []event        `json:"events"`
		Contests    []organised    `json:"leagues,omitempty"`     // and tournaments, that they are in
		Steps       []step         `json:"leagueSteps,omitempty"` // what they did there, or is said of them
		Moderation  []act          `json:"moderation,omitempty"`  // what they did as a moderator
		Transcript  []line         `json:"transcript,omitempty"`
		Explanation string         `json:"explanation"`
	}{Platform: who.Platform, ID: who.ID, Name: who.Name, Person: by, Games: []game{}, Events: []event{},
		Explanation: l.Say(say("privacy.known"))}
	prefs := s.prefs
	out.Remind, out.Zone, out.Language, out.Theme, out.Layout, out.Coordinates = prefs.Remind, prefs.Zone, prefs.Lang, prefs.Theme, prefs.Layout, prefs.Coords
	if prefs.Quiet != (clock.Hours{}) {
		out.Quiet = prefs.Quiet.String()
	}
	browsers, err := b.store.Browsers(ctx, by)
	if err != nil {
		return nil, err
	}
	for _, l := range browsers {
		out.Browsers = append(out.Browsers, browser{l.Name, l.At})
	}
	records, err := b.store.RecordsOf(ctx, by)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		out.Records = append(out.Records, record{"/p/" + r.Slug, r.Where.Channel, r.Name, r.Shared, r.Visited, r.Text})
	}
	ms, err := b.store.Matches(ctx, Query{Player: by, Limit: maxKnown})
	if err != nil {
		return nil, err
	}
	for _, m := range ms {
		out.Games = append(out.Games, game{m.Number, m.Where.Channel, m.Rules, m.Black == by, m.White == by, m.State, m.Result, m.Opened})
	}
	events, err := b.store.EventsBy(ctx, by)
	if err != nil {
		return nil, err
	}
	for id, es := range events {
		for _, e := range es {
			if e.Suggested() { // the bot did that, when the person stopped play
				continue
			}
			out.Events = append(out.Events, event{id, e.At, e.Body.String()})
		}
	}
	heads, err := b.store.ContestsOf(ctx, by)
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		c, err := b.contest(ctx, h.ID)
		if err != nil {
			return nil, err
		}
		one := organised{Event: h.ID, Title: h.Title, Number: h.Number, Channel: h.Where.Channel, State: h.State, Organises: c.Organises(by)}
		if n := c.Player(by); n > 0 {
			one.Plays, one.Rank = true, contest.RankName(c.Players[n-1].Rank)
		}
		out.Contests = append(out.Contests, one)
	}
	steps, err := b.store.ContestEventsBy(ctx, by)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(steps)) {
		for _, e := range steps[id] {
			if e.By == by || e.Body.Person == by {
				e.Body.Groups, e.Body.Tables, e.Body.Absent = nil, nil, nil // which are about everybody
				if e.Body.Person != by {
					e.Body.Person, e.Body.Rank = "", nil
				}
				out.Steps = append(out.Steps, step{id, e.At, e.Body})
			}
		}
	}
	acts, err := b.store.ActsBy(ctx, by)
	if err != nil {
		return nil, err
	}
	for _, a := range acts {
		out.Moderation = append(out.Moderation, act{a.Where.Channel, a.Server, a.At, a.What})
	}
	messages, err := b.store.MessagesOf(ctx, by, who)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		names, err := b.store.People(ctx, m.People())
		if err != nil {
			return nil, err
		}
		said := line{At: m.At, From: m.From, Text: Fill(Line(m, names), Format{})}
		if m.By != "" {
			said.From = who.Name
		}
		if m.File != nil {
			said.File = string(m.File.Data)
		}
		if m.Question != nil {
			said.Diagram = m.Question.Args["diagram"]
		}
		out.Transcript = append(out.Transcript, said)
	}
	text, err := json.MarshalIndent(out, "", "  ")
	return &outbox.File{Name: "halfpoint.json", Type: "application/json", Data: append(text, '\n')}, err
}

// forget ends a person's games and deletes their data. It deletes the name first, so
// that nothing shown meanwhile contains it, and stores the rest as a job, which the next
// start continues if the process is killed.
func (b *Bot) forget(ctx context.Context, r Request, by match.PersonID) error {
	f := Forgetting{Person: by, Who: r.Who}
	if err := b.store.Forget(ctx, f); err != nil {
		return err
	}
	b.outbox.Forget(by)
	return b.erase(ctx, f)
}

// erase does what is to be done once Forget has stored it.
func (b *Bot) erase(ctx context.Context, f Forgetting) error {
	b.cache.clear() // it holds pictures with the name, and what they have said of games
	defer b.cache.clear()
	if err := b.leaveEvents(ctx, f.Person); err != nil { // first: then their games are lost by forfeit
		return err
	}
	ms, err := b.store.Matches(ctx, Query{Player: f.Person, States: []match.State{match.Open, match.Going}, Limit: maxKnown})
	if err != nil {
		return err
	}
	for _, m := range ms {
		request := fmt.Sprintf("forget:%s:%s", m.ID, f.Person)
		_, err := b.act(ctx, Request{}, m.ID, request, b.now(), b.creditFirst, func(in *match.Input) match.Step { return match.Leave(in, f.Person) })
		if err != nil {
			return fmt.Errorf("end game %s: %w", m.ID, err)
		}
	}
	if err := b.store.Erase(ctx, f); err != nil {
		return err
	}
	return b.units.Everywhere(ctx)
}

// eraseRest finishes what was interrupted.
func (b *Bot) eraseRest(ctx context.Context) {
	all, err := b.store.Forgetting(ctx)
	for _, f := range all {
		err = errors.Join(err, outbox.Guarded(func() error { return b.erase(ctx, f) }))
	}
	if err != nil && ctx.Err() == nil {
		b.log.Error("forgetting people did not finish, will retry", "error", err)
	}
}
