package bot

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/width"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// aPoint is a point as people write it, with its letter moved to the front, or in the
// kanji that pictures can show: "3四". "4-4" is more often talk about a corner.
var aPoint = regexp.MustCompile(`(?i)^(?:[a-z](?:[1-9]|1[0-9]|2[0-5])|(?:[1-9]|1[0-9]|2[0-5]|[一二三四五六七八九])(?:[一二三四五六七八九]|十[一二三四五六七八九]?|廿[一二三四五]?))$`)

// aroundTurn are words beside a turn that leave it one: "play E5", "Pass, please."
var aroundTurn = regexp.MustCompile(`(?i)^(?:(?:place|play)\s+)?(.*?)(?:,?\s+please)?$`)

// BareTurn reads a turn that somebody typed without a command: a point as they write it,
// "E5", "e 5", "5e", "e-5", "Ｅ５", "3四" or "e5.", on any board and with any letter, or the word pass; before
// it may stand "play" or "place", after it "please". It reports false for everything else:
// every other word is as likely to be chat.
func BareTurn(typed string) (command string, args map[string]string, ok bool) {
	if len(typed) > 20 {
		return "", nil, false
	}
	around := aroundTurn.FindStringSubmatch(strings.TrimRight(strings.TrimSpace(width.Fold.String(typed)), ".!。"))
	if around == nil {
		return "", nil, false
	}
	word := strings.TrimSpace(match.TidyPoints(around[1]))
	switch {
	case aPoint.MatchString(word):
		return "place", map[string]string{"at": word}, true
	case strings.EqualFold(word, "pass"):
		return "pass", map[string]string{}, true
	}
	return "", nil, false
}

// Bare reports whether something that was typed without a command is a turn; see
// [Service].
func (b *Bot) Bare(ctx context.Context, r Request, typed string) (turn Request, ok bool, why string, err error) {
	command, args, ok := BareTurn(typed)
	if !ok {
		return r, false, "", nil
	}
	turn, ok, why, err = b.bare(ctx, r, command, args)
	if err == nil && !ok { // the turn of this very request may have been made just before that look
		_, ok, err = b.store.Answered(ctx, r.ID)
	}
	return turn, ok, why, err
}

// bare is Bare for a text that reads like a turn.
func (b *Bot) bare(ctx context.Context, r Request, command string, args map[string]string) (turn Request, ok bool, why string, err error) {
	as := r
	as.Command, as.Args = command, args
	k, err := b.store.Known(ctx, r.Who, r.Where, r.ID)
	if err != nil || k.Person == "" || k.Answer != nil {
		return as, k.Answer != nil, "", err
	}
	if err := b.inThread(ctx, &r); err != nil {
		return as, false, "", err
	}
	m, found, err := b.playedIn(ctx, r, k.Person)
	if err != nil || !found || m.State != match.Going {
		return as, false, "", err
	}
	p, err := b.position(ctx, m, m.Seq)
	if errors.Is(err, ErrDamaged) {
		return as, m.ToMove == k.Person, "", nil // Ask says so
	}
	if err != nil {
		return as, false, "", err
	}
	phase := p.Game.Phase()
	if phase == rules.Playing && m.ToMove == k.Person {
		if r.Flat { // in several games it may be their turn
			args["game"] = strconv.Itoa(m.Number)
		}
		return as, true, "", nil
	}
	mine := text.BestLanguage(cmp.Or(k.Prefs.Lang, r.Lang))
	switch {
	case m.Black != k.Person && m.White != k.Person:
	case phase == rules.Playing:
		why = mine.Say(say("not.your.turn", strconv.Itoa(m.Number), text.Color(p.Game.ToPlay())))
	case phase == rules.Settling:
		why = mine.Say(say("stopped", strconv.Itoa(m.Number)))
	}
	return as, false, why, nil
}

// Here reports whether a message belongs to a game; see [Service].
func (b *Bot) Here(ctx context.Context, r Request) (lang string, ok bool, err error) {
	k, err := b.store.Known(ctx, r.Who, r.Where, r.ID)
	if err != nil {
		return "", false, err
	}
	if err := b.inThread(ctx, &r); err != nil {
		return "", false, err
	}
	if ok = r.thread != ""; !ok && k.Person != "" {
		_, ok, err = b.playedIn(ctx, r, k.Person)
	}
	return text.BestLanguage(cmp.Or(k.Prefs.Lang, r.Lang, k.Channel.Place().Language().Tag)).Tag, ok, err
}

// playedIn returns the game in whose thread something is asked. Where there are no
// threads it returns, of the games that the person plays there, the one in which it is
// their turn, or else the one that was changed last; of several it takes the last.
func (b *Bot) playedIn(ctx context.Context, r Request, by match.PersonID) (m match.Match, found bool, err error) {
	if r.thread != "" {
		m, err = b.store.Header(ctx, r.thread)
		return m, err == nil, err
	}
	if r.Where.Thread == "" && !r.Flat {
		return m, false, nil
	}
	if id := b.cache.last(r.Where); r.Flat && id != "" {
		m, err = b.store.Header(ctx, id)
		if err == nil && m.State == match.Going && m.ToMove == by || err != nil && !errors.Is(err, ErrNotFound) {
			return m, err == nil, err
		}
	}
	ms, err := b.store.Matches(ctx, Query{Where: r.Where, Player: by, States: []match.State{match.Going}, Limit: b.mostGames()})
	if err != nil || len(ms) == 0 || len(ms) > 1 && !r.Flat {
		return m, false, err
	}
	if i := slices.IndexFunc(ms, func(m match.Match) bool { return m.ToMove == by }); i >= 0 {
		return ms[i], true, nil
	}
	return ms[0], true, nil
}

// addressedSteps are the commands that a message to the bot carries out wherever it can be
// read: steps of the game that everybody in its thread sees, and that can be refused
// there. All others may be answered for one person alone.
var addressedSteps = []string{"place", "pass", "button", "delay", "undo", "accept", "dead", "resign"}

// likeAPoint is a text that is meant as a point, although there may be no such point.
var likeAPoint = regexp.MustCompile(`(?i)^(?:[a-z]{1,2}\s*[0-9]{1,3}|[0-9]{1,3}\s*[a-z]{1,2}|[0-9]{1,2}-[0-9]{1,2})$`)

// Addressed reads a message to the bot. It returns the command that the message names,
// and reports whether that is a step of a game, which the message may carry out. Its
// error is for the person who wrote it, to be worded with [Explain], and ErrNotACommand
// if nothing in the message is like a command.
func Addressed(typed string) (command string, args map[string]string, step bool, err error) {
	if len(typed) > maxAddressed {
		return "", nil, false, ErrNotACommand
	}
	if command, args, ok := BareTurn(typed); ok {
		return command, args, true, nil
	}
	line := strings.TrimLeft(strings.TrimRight(strings.TrimSpace(typed), ".!? "), "/! ")
	around := aroundTurn.FindStringSubmatch(line)
	if around != nil && likeAPoint.MatchString(around[1]) {
		return "place", map[string]string{"at": around[1]}, true, nil
	}
	command, args, err = Parse("/" + pleading.ReplaceAllString(line, ""))
	if err != nil {
		slashed := strings.HasPrefix(strings.TrimSpace(typed), "/")
		switch why := text.Explain(err); why.Key {
		case "parse.unknown":
			err = ErrNotACommand
		case "parse.unknown.near": // without a slash, a word like those of a talk: "hello", "now"
			if !slashed && !slices.Contains(addressedSteps, why.Args[1].Value) {
				err = ErrNotACommand
			}
		}
	}
	return command, args, err == nil && slices.Contains(addressedSteps, command), err
}

// pleading is the end of a command to somebody: "undo, please".
var pleading = regexp.MustCompile(`(?i),?\s+please$`)

// maxAddressed is the length in bytes above which a message is talk.
const maxAddressed = 200

// bareSize is the size of a board as people write it.
var bareSize = regexp.MustCompile(`^\d{1,2}([xX×]\d{1,2})?$`)

// maxSlashed is the largest number of words of a command without its slash.
const maxSlashed = 4

// Slashed returns the command that somebody may mean who typed it without its slash:
// "/place E5" for "E5", "/join" for "Join", "/new 9x9" for "new 9x9",
// and "/place E55", which is refused with the reason, for "E55". It returns ""
// for what reads like talk, and for what has a slash.
func Slashed(typed string) string {
	if command, args, ok := BareTurn(typed); ok {
		return strings.TrimSpace("/" + command + " " + args["at"])
	}
	words := strings.Fields(typed)
	if len(words) == 0 || len(words) > maxSlashed {
		return ""
	}
	if len(words) == 1 && likeAPoint.MatchString(width.Fold.String(words[0])) {
		return "/place " + words[0]
	}
	name := strings.ToLower(words[0])
	line := "/" + strings.Join(append([]string{name}, words[1:]...), " ")
	_, _, err := Parse(line)
	switch {
	case err != nil || !slices.ContainsFunc(Commands(), func(c Command) bool { return c.Name == name }):
		return ""
	case len(words) == 1 || slices.ContainsFunc(words[1:], func(w string) bool { return aPoint.MatchString(w) || bareSize.MatchString(w) }):
		return line
	}
	return ""
}
