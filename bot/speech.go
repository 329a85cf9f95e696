package bot

import (
	"cmp"
	"context"

	"github.com/halfpoint-go/halfpoint/bot/text"
)

// A speech is in which languages a request is answered.
type speech struct {
	mine  *text.Language // of the person who asks, for what they alone read
	room  *text.Language // of the room, for what everybody reads
	here  place
	prefs Preferences // of the person
}

// speech finds out in which languages a request is answered: the person's own is
// the one they have chosen, that of their program, or if it does not say, that of
// the room.
func (b *Bot) speech(ctx context.Context, r Request, by Person) (s speech, err error) {
	if err := b.heard(ctx, r); err != nil {
		return s, err
	}
	if s.here, s.room, err = b.room(ctx, r.Where); err != nil {
		return s, err
	}
	if s.prefs, err = b.store.Preferences(ctx, by); err != nil {
		return s, err
	}
	s.mine = text.BestLanguage(cmp.Or(s.prefs.Lang, r.Lang, s.room.Tag))
	return s, nil
}

// LangMark names the bookmark in which it is written what language a platform says
// that a channel speaks.
func LangMark(where Room) string { return "bot:lang:" + where.Platform + ":" + where.Channel }

// heard remembers what language the platform says that the room speaks, for what
// is said there later and nobody asked for.
func (b *Bot) heard(ctx context.Context, r Request) error {
	l, ok := text.FindLanguage(r.RoomLang)
	if !ok {
		return nil
	}
	mark := LangMark(r.Where)
	was, err := b.store.Bookmark(ctx, mark)
	if err != nil || cmp.Or(was, text.English.Tag) == l.Tag {
		return err
	}
	return b.store.SetBookmark(ctx, mark, l.Tag)
}

// room gives what holds in a room, and its language: the one that its moderators
// have chosen, or that of which the platform has spoken, or English.
func (b *Bot) room(ctx context.Context, where Room) (place, *text.Language, error) {
	here, err := b.place(ctx, where)
	if err != nil || here.Lang != "" {
		return here, text.BestLanguage(here.Lang), err
	}
	mark, err := b.store.Bookmark(ctx, LangMark(here.Room))
	return here, text.BestLanguage(mark), err
}

// postLang gives the language of a post: that of its reader, if it is for one
// person alone and they have chosen one, else that of the room, with what has
// been chosen for that.
func (b *Bot) postLang(ctx context.Context, o Owed) (place, *text.Language, error) {
	here, l, err := b.room(ctx, o.Where)
	if err == nil && o.Private && len(o.Notify) == 1 {
		var prefs Preferences
		if prefs, err = b.store.Preferences(ctx, o.Notify[0]); err == nil {
			if own, ok := text.FindLanguage(prefs.Lang); ok {
				l = own
			}
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

// Translated translates what an adapter says by itself: its English words into the
// language of a BCP 47 tag, with arguments for {0}, {1} ….
func Translated(tag, english string, args ...string) string {
	return text.BestLanguage(tag).Adapter(english, args...)
}

// CommandsIn gives what people can ask for, as Commands does, with summaries and
// the labels of choices in the language of a BCP 47 tag.
func CommandsIn(tag string) []Command {
	cs := Commands()
	for i := range cs {
		cs[i] = cs[i].In(tag)
	}
	return cs
}

// In gives the command with its summaries and the labels of choices in the
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

// In gives the option as [Command.In] does.
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
