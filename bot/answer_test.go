package bot_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// leaves makes a request for an adapter that lets the bot deliver the answer.
func (k *talk) leaves(t *testing.T, r bot.Request) bot.Answer {
	t.Helper()
	a, err := k.bot.Ask(t.Context(), r)
	must(t, err)
	if len(a.Posts) > 0 {
		t.Errorf("the adapter shows %+v", a.Posts)
	}
	return a
}

// typed makes the request of a line.
func (k *talk) typed(t *testing.T, who, line string) bot.Request {
	t.Helper()
	r, err := k.line(who, line)
	must(t, err)
	r.Reply = "the way back"
	return r
}

// answers delivers what is due, and returns the answers among it.
func (k *talk) answers(t *testing.T) (answers []outbox.Post) {
	t.Helper()
	for _, p := range k.posts(t) {
		if p.Kind == match.Answer {
			answers = append(answers, p)
		}
	}
	return answers
}

// The bot delivers an answer that the adapter does not show, once, to the person who asked.
func TestAnswerIsAPost(t *testing.T) {
	k := newTalk(t)
	for _, line := range []string{"/new aga 5x5 color:black", "/join", "/place C3"} {
		k.say(t, map[bool]string{true: "bob", false: "ada"}[line == "/join"], line)
	}
	for _, c := range []struct {
		who, line, want string
		public, refused bool
	}{
		{"ada", "/place C4", "It is not your turn", false, true},
		{"ada", "/plaice C4", "There is no command", false, true},
		{"ada", "/place C4 game:x", "is not the number of a game", false, true},
		{"bob", "/pass anyway:perhaps", "anyway", false, true},
		{"bob", "/score", "if the game ended now", false, false},
		{"bob", "/score share:yes", "Bob", true, false},
		{"eve", "/score game:7", "There is no game 7 here", false, true},
		{"bob", "/privacy export", "everything", false, false},
		{"bob", "/remind none", "remind", false, false},
	} {
		r := k.typed(t, "ada", "/help")
		if command, rest, _ := strings.Cut(strings.TrimPrefix(c.line, "/"), " "); command == "plaice" {
			r.Command, r.Args = command, map[string]string{"at": rest}
		} else {
			r = k.typed(t, c.who, c.line)
		}
		for range 2 { // asked again, before and after it was shown
			if a := k.leaves(t, r); a.Public != c.public {
				t.Errorf("%s: for everybody: %v", c.line, a.Public)
			}
		}
		got := k.answers(t)
		k.leaves(t, r)
		if got = append(got, k.answers(t)...); len(got) != 1 {
			t.Fatalf("%s: %d answers: %+v", c.line, len(got), got)
		}
		p := got[0]
		if !strings.Contains(strings.ToLower(p.Text), strings.ToLower(c.want)) || p.Private == c.public || p.Refused != c.refused || p.Asker != r.Who ||
			p.Reply != "the way back" || p.ID != r.ID+":answer" {
			t.Errorf("%s: %+v", c.line, p)
		}
	}
}

// A question is answered with what is known when its answer is shown.
func TestQuestionIsAskedWhenItIsShown(t *testing.T) {
	k := newTalk(t)
	for _, line := range []string{"/new aga 5x5 color:black opponent:me", "/place C3"} {
		k.say(t, "ada", line)
	}
	k.leaves(t, k.typed(t, "ada", "/board"))
	k.ask(t, "ada", "/place D3")
	if got := k.answers(t); len(got) != 1 || got[0].Scene == nil || got[0].Scene.Move != 2 {
		t.Errorf("%+v", got)
	}
}

// The bot delivers a message of an adapter once for each text, even if Ask gets the request
// later. Messages that wait together are sent as one.
func TestTell(t *testing.T) {
	k := newTalk(t)
	r := k.typed(t, "ada", "/place C3")
	for range 2 {
		must(t, k.bot.Tell(t.Context(), r, text.Adapters("Not so fast, {0}.", "Ada")))
	}
	k.leaves(t, r)
	k.leaves(t, k.typed(t, "ada", "/place C3"))
	got := k.answers(t)
	if len(got) != 1 || !strings.HasPrefix(got[0].Text, "Not so fast, Ada.\n2× ") {
		t.Errorf("%+v", got)
	}
}

// The bot delivers an answer that the adapter could not show, by the route that the adapter
// names.
func TestReleasedAnswer(t *testing.T) {
	k := newTalk(t)
	for _, line := range []string{"/place C3", "/help place", "/remind none"} {
		r := k.typed(t, "ada", line)
		r.Shows = true
		a, err := k.bot.Ask(t.Context(), r)
		must(t, err)
		p := a.Own()
		p.Reply = "in doubt"
		for range 2 {
			must(t, k.bot.Settle(t.Context(), p, "", nil, errors.New("the line is broken")))
		}
		got := k.answers(t)
		if len(got) != 1 || got[0].Text != p.Text || got[0].Reply != "in doubt" || got[0].Refused || p.Text == "" {
			t.Errorf("%s: %+v, not %+v", line, got, p)
		}
	}
}

// Each released answer is shown by itself, even a refusal: somebody waits for just that one.
func TestReleasedRefusalsDoNotMerge(t *testing.T) {
	k := newTalk(t)
	for range 2 {
		r := k.typed(t, "ada", "/place C3")
		r.Shows = true
		a, err := k.bot.Ask(t.Context(), r)
		must(t, err)
		must(t, k.bot.Settle(t.Context(), a.Own(), "", nil, errors.New("the line is broken")))
	}
	if got := k.answers(t); len(got) != 2 || got[0].Text != got[1].Text {
		t.Errorf("%+v", got)
	}
}

// An answer comes in the thread of the request, whatever the receipt of the message above it
// looks like.
func TestAnswerInAThread(t *testing.T) {
	k := newTalk(t)
	k.say(t, "ada", "/new aga 5x5 color:black opponent:me")
	for _, line := range []string{"/score", "/place Z9"} {
		r := k.typed(t, "ada", line)
		r.Where.Thread, r.Under = "thread", "1" // the receipt of the game's first message
		k.leaves(t, r)
		if got := k.answers(t); len(got) != 1 || got[0].Where.Thread != "thread" {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// After /privacy delete a person gets the confirmation, in their language, and no earlier
// answer.
func TestForgottenAnswers(t *testing.T) {
	k := newTalk(t)
	k.say(t, "ada", "/settings language:de whose:mine")
	k.leaves(t, k.typed(t, "ada", "/score share:yes"))
	k.leaves(t, k.typed(t, "ada", "/help"))
	k.leaves(t, k.typed(t, "ada", "/privacy delete confirm:yes"))
	got := k.answers(t)
	if len(got) != 1 || !strings.Contains(got[0].Text, "Ich habe dich gelöscht") || got[0].Reply != "the way back" {
		t.Errorf("%+v", got)
	}
}

// A question has the same answer, whether its adapter shows it or the bot, and also after
// a restart.
func TestStoredQuestions(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new aga 5x5 color:black", "bob> /join", "ada> /place C3", "eve> /new button 5x5 opponent:me", "eve> /place A1")
	for _, line := range append([]string{"/board 9", "/board 2", "/score game:1", "/help nothing", "/privacy export", "/privacy delete", "/privacy what", "/rules nothing"}, questions...) {
		for _, who := range []string{"ada", "eve", "mod", "mod but for adjudicate"} {
			who, except, _ := strings.Cut(who, " but for ")
			r, err := k.request(who, line)
			must(t, err)
			r.Except = []string{except}
			want, err := own(k.bot.Ask(t.Context(), r))
			must(t, err)
			r = k.typed(t, who, line)
			r.Except = []string{except}
			k.leaves(t, r)
			k.start(bot.Config{})
			got := k.answers(t)
			if len(got) != 1 {
				t.Fatalf("%s: %d answers", line, len(got))
			}
			p := got[0]
			if p.Text != want.Text || p.Private != want.Private || p.Refused != want.Refused || p.Lang != want.Lang || fmt.Sprint(p.Controls, p.Menu) != fmt.Sprint(want.Controls, want.Menu) ||
				(p.Scene == nil) != (want.Scene == nil) || (p.Chart == nil) != (want.Chart == nil) || (p.File == nil) != (want.File == nil) {
				t.Errorf("%s> %s: %q %v, not %q %v", who, line, p.Text, p.Controls, want.Text, want.Controls)
			}
		}
	}
}
