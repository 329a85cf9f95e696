package bot

import (
	"cmp"
	"context"
	"slices"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// A localizer knows the person and the place of a request, and the languages of its answer.
type localizer struct {
	by     match.PersonID
	mine   *text.Language // of the person, for what they alone read
	room   *text.Language // of the room, for what everybody reads
	here   rooms.Place
	prefs  match.Preferences // of the person
	answer *match.Reply      // the stored answer to the request; nil: there is none yet
	parked bool              // posts for the room are parked
}

// localizer looks up the person and the room of a request. The language of a person is
// the one they have chosen, or else that of their program, or else that of the room.
func (b *Bot) localizer(ctx context.Context, r Request) (localizer, error) {
	k, err := b.rooms.Enter(ctx, rooms.Visit{Who: r.Who, Where: r.Where, Server: r.Server, Lang: r.RoomLang, Request: r.ID})
	if err != nil {
		return localizer{}, err
	}
	here := k.Channel.Place()
	room := here.Language()
	return localizer{
		by: k.Person, prefs: k.Prefs, answer: k.Answer, parked: k.Channel.Parked,
		here: here, room: room, mine: text.BestLanguage(cmp.Or(k.Prefs.Lang, r.Lang, room.Tag)),
	}, nil
}

// room loads the settings of a room, and its language.
func (b *Bot) room(ctx context.Context, where match.Room) (rooms.Place, *text.Language, error) {
	here, err := b.rooms.Place(ctx, where)
	return here, here.Language(), err
}

// postLang returns the language of a post, and the settings of its room: the language of
// its reader, if it is for one person alone and they have chosen one, else that of the
// room.
func (b *Bot) postLang(ctx context.Context, o outbox.Pending) (here rooms.Place, l *text.Language, err error) {
	if s := b.recent(o); s != nil {
		here = s.place
	} else if here, err = b.rooms.Place(ctx, o.Where); err != nil {
		return here, nil, err
	}
	l = here.Language()
	if o.Private && len(o.Notify) == 1 {
		var prefs map[match.PersonID]match.Preferences
		_, prefs, err = b.store.Players(ctx, o.Notify)
		if own, ok := text.FindLanguage(prefs[o.Notify[0]].Lang); ok {
			l = own
		}
	}
	return here, l, err
}

// Languages returns the BCP 47 tags of the languages that the bot speaks, English
// first.
func Languages() []string {
	var tags []string
	for _, l := range text.Languages() {
		tags = append(tags, l.Tag)
	}
	return tags
}

// Translated translates an adapter's own English text into the language of a BCP 47
// tag, with arguments for {0}, {1} ….
func Translated(tag, english string, args ...string) string {
	return text.BestLanguage(tag).Adapter(english, args...)
}

// Labels returns the labels of the controls of posts in the language of a BCP 47 tag, by
// their labels in the other languages: posts have them in the language of their room.
func Labels(tag string) map[string]string {
	labels, own := map[string]string{}, text.BestLanguage(tag)
	for _, l := range text.Languages() {
		for _, c := range slices.Concat(match.Controls, match.More) {
			theirs, ours := text.BestLanguage(l.Tag).Say(say(c.Label)), own.Say(say(c.Label))
			if _, known := labels[theirs]; !known && theirs != ours {
				labels[theirs] = ours
			}
		}
	}
	return labels
}

// CommandsIn returns what people can ask for, as Commands does, with summaries and
// the labels of choices in the language of a BCP 47 tag.
func CommandsIn(tag string) []Command {
	cs := Commands()
	for i := range cs {
		cs[i] = cs[i].In(tag)
	}
	return cs
}

// GroupSummary describes a group of commands in the language of a BCP 47 tag.
func GroupSummary(group, tag string) string { return text.BestLanguage(tag).Say(say("group." + group)) }

// In returns the command with its summaries and the labels of choices in the
// language of a BCP 47 tag. Names are the same in every language: people show
// each other what they type.
func (c Command) In(tag string) Command {
	c.Summary = text.BestLanguage(tag).Command(c.Summary)
	c.Options = append([]Option(nil), c.Options...)
	for i := range c.Options {
		c.Options[i] = c.Options[i].In(tag)
	}
	return c
}

// In returns the option as [Command.In] does.
func (o Option) In(tag string) Option {
	l := text.BestLanguage(tag)
	o.Summary = l.Command(o.Summary)
	o.Choices = choicesIn(l, o.Choices)
	return o
}

func choicesIn(l *text.Language, cs []Choice) []Choice {
	out := append([]Choice(nil), cs...)
	for i := range out {
		out[i].Label = l.Command(out[i].Label)
	}
	return out
}
