package bot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// wordedEvent words a post of an event.
func (b *Bot) wordedEvent(ctx context.Context, o outbox.Pending, p outbox.Post, l *text.Language, room rooms.Place) (outbox.Post, error) {
	c, err := b.contest(ctx, o.Game)
	if err != nil {
		return p, err
	}
	p.Number, p.At = c.Number, c.Changed
	texts := o.Texts
	var links []Text
	if o.Kind == match.Sheet {
		last, _, err := b.store.Shown(ctx, o.Game, o.Where, match.Sheet, false)
		if err != nil {
			return p, err
		}
		if o.Seq != c.Seq && !o.Again { // a newer one waits
			if !o.Look || last != "" {
				return p, outbox.ErrStale
			}
			if c, err = b.contestAt(ctx, o.Game, o.Seq); err != nil { // the first may have been sent
				return p, err
			}
			p.At = c.Changed
		}
		if p.Replaces = string(last); o.Again {
			p.Replaces = ""
		}
		if links, _, err = b.gameLinks(ctx, c); err != nil {
			return p, err
		}
		texts = sheetTexts(c, b.now().UTC(), maxNamed, links)
		p.Controls = labelled(l, sheetControls(c))
	} else {
		p.Controls = labelled(l, o.Controls)
	}
	if b.eventPaged(c, b.settings(room)) {
		if p.Path = "/e/" + c.Page; b.address != "" {
			p.Link = b.address + p.Path
		}
	}
	known, err := b.store.People(ctx, slices.Concat(people(texts), o.Notify, sheetPeople(c)))
	if err != nil {
		return p, err
	}
	who := rooms.TellApart(known)
	if o.Kind == match.Sheet || finalNotice(o.OutboxPost) {
		p.Sheet = sheetOf(c, 0, nil, l, known, room.Look(match.Preferences{}))
	}
	p.Stored.Texts, p.Stored.Notify = texts, nil
	for _, n := range o.Notify {
		if w := who[n]; w.Name != "" { // else they are being forgotten
			p.Notify, p.Stored.Notify = append(p.Notify, w), append(p.Stored.Notify, n)
		}
	}
	p.Text = word(l, texts, who, p.Number)
	for most := maxNamed / 4; o.Kind == match.Sheet && most > 0 && lengthShown(p.Text) > maxSheetText; most /= 4 { // names are long
		p.Stored.Texts = sheetTexts(c, b.now().UTC(), most, links)
		p.Text = word(l, p.Stored.Texts, who, p.Number)
	}
	return p, nil
}

// lengthShown returns how many characters a text has where a link takes some by itself.
func lengthShown(s string) int {
	return utf8.RuneCountInString(Fill(s, Format{Room: func(_ Place, words string) string { return fmt.Sprintf("%-*s", linkLength, words) }}))
}

// gameLinks returns links to the games of the last round of an event that are still played, in
// the order of their tables, once all of these have a message to lead to; an hour after the round
// began to those that have one. It reports whether others are waited for. The local room needs no
// links.
func (b *Bot) gameLinks(ctx context.Context, c *contest.Contest) (links []Text, waits bool, err error) {
	if c.State != contest.Playing || c.Where.Platform == LogPlatform {
		return nil, false, nil
	}
	began := c.Round().Began
	for _, n := range c.Unfinished() {
		t := c.Round().Tables[n-1]
		_, first, err := b.store.Shown(ctx, t.Game, c.Where, match.Show, false)
		if err != nil {
			return nil, false, err
		}
		switch {
		case first != "":
		case began.IsZero() || b.now().Before(began.Add(linkPatience)):
			return nil, true, nil
		default:
			continue
		}
		players := say("event.versus", named(c.Players[t.Black-1].Person), named(c.Players[t.White-1].Person))
		links = append(links, text.Link(text.Place{Platform: c.Where.Platform, Channel: c.Where.Channel, Under: string(first)}, players))
	}
	return links, false, nil
}

// Limits of the message of an event, so that a platform can show it in one.
const (
	maxNamed     = 40   // people or games in a list
	maxSheetText = 1500 // characters; a platform may need more, to show them as they are
	linkLength   = 24   // characters, at least
	linkPatience = time.Hour
)

// sheetDecoration returns the picture of the message of an event, which follows the words.
func (b *Bot) sheetDecoration(ctx context.Context, p outbox.Post, l *text.Language, room rooms.Place) (outbox.Post, error) {
	c, err := b.contest(ctx, p.Game)
	if err != nil {
		return p, err
	}
	if c.Seq != p.Seq { // the message shows something newer, or soon does
		return p, outbox.ErrStale
	}
	who, err := b.store.People(ctx, sheetPeople(c))
	p.Number, p.At, p.Lang = c.Number, c.Changed, l.Tag
	p.Sheet = sheetOf(c, 0, nil, l, who, room.Look(match.Preferences{}))
	return p, err
}

// finalNotice reports whether a post tells that an event is over: it has the final table.
func finalNotice(o match.OutboxPost) bool { return len(o.Texts) > 0 && o.Texts[0].Key == "event.over" }

// eventPaged reports whether anybody who has its address may read the page of an event.
func (b *Bot) eventPaged(c *contest.Contest, room match.RoomSettings) bool {
	return c.Page != "" && room.Pages.On() && !c.Opened.Before(room.Since)
}

// sheetControls are the buttons below the message of an event.
func sheetControls(c *contest.Contest) (cs []match.Control) {
	add := func(label, what, ask string) {
		cs = append(cs, match.Control{Label: label, Command: eventName, Args: map[string]string{"what": what, "event": strconv.Itoa(c.Number)}, Ask: ask})
	}
	switch c.State {
	case contest.SignUp:
		ask := ""
		if c.Ranks {
			ask = "rank"
		}
		add("label.event.join", "join", ask)
		add("label.event.leave", "leave", "")
	case contest.Playing, contest.Over:
		if c.Asking != nil {
			add("label.event.play", "play", "")
			add("label.event.sitout", "sitout", "")
		}
		add("label.event.table", "table", "")
	}
	return cs
}

// sheetTexts says how an event stands, with links to its games. Lists name at most so many.
func sheetTexts(c *contest.Contest, now time.Time, most int, links []Text) []Text {
	texts := []Text{say("event.title", c.Name, say("event.state."+string(c.State)))}
	switch c.State {
	case contest.SignUp:
		seated, waiting := c.Seated()
		texts = append(texts, c.Terms.Words(now, time.UTC)...)
		texts = append(texts, joinedText("event.joined.list", c, seated, most))
		if len(waiting) > 0 {
			texts = append(texts, joinedText("event.waiting.list", c, waiting, most/2))
		}
	case contest.Playing, contest.Over:
		r, all := c.Round(), 0
		for _, t := range r.Tables {
			if counts(t) {
				all++
			}
		}
		if open := len(c.Unfinished()); open > 0 && !r.Ends.IsZero() {
			texts = append(texts, say("event.open", open, strconv.Itoa(all), clock.InstantText(r.Ends, now)))
		}
		switch more := len(links) - most; {
		case more > 0:
			texts = append(texts, say("event.games.more", text.List(links[:most]...), strconv.Itoa(more)))
		case len(links) > 0:
			texts = append(texts, say("event.games", text.List(links...)))
		}
		texts = append(texts, leaderTexts(c)...)
		if shown, groups := shownGroups(c); shown < groups {
			texts = append(texts, say("event.sheet.groups", contest.GroupName(shown)))
		}
		if a := c.Asking; a != nil {
			texts = append(texts, say("event.asking", strconv.Itoa(len(c.Rounds)+1), clock.InstantText(a.Until, now)))
			if out := slices.DeleteFunc(slices.Clone(a.Out), func(n int) bool { return !c.Players[n-1].In() }); len(out) > 0 {
				texts = append(texts, joinedText("event.out.list", c, out, most))
			}
		}
	}
	return texts
}

// joinedText lists players, with their ranks. It names the first most, and counts the others.
func joinedText(key string, c *contest.Contest, numbers []int, most int) Text {
	if len(numbers) == 0 {
		return say("event.joined.none")
	}
	var names []Text
	for _, n := range numbers {
		names = append(names, playerText(c, n))
	}
	return say(key, len(numbers), listed(names, most))
}

// listed lists the first most of some texts, and counts the others.
func listed(texts []Text, most int) Text {
	if more := len(texts) - most; more > 0 {
		texts = append(slices.Clone(texts[:most]), say("event.sheet.more", strconv.Itoa(more)))
	}
	return text.List(texts...)
}

// playerText names a player, with their rank if they declared one.
func playerText(c *contest.Contest, n int) Text {
	p := c.Players[n-1]
	if rank := contest.RankName(p.Rank); rank != "" {
		return say("event.player.rank", named(p.Person), rank)
	}
	return say("player", named(p.Person))
}
