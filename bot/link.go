package bot

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// People who play on a chat platform can play on the pages of games as well. /link gives
// them an address with a secret, for one use. The browser that opens it gets a cookie with
// another secret, and is that person from then on, until they end it. The store has only
// hashes of the secrets.

// linkFor is how long an address can be used.
const linkFor = 10 * time.Minute

// A Link makes a browser a person.
type Link struct {
	Secret string // the hash of the secret in the browser's cookie, or in the address
	Person match.PersonID
	Who    outbox.User
	Where  match.Room // in which they asked for it
	Name   string     // of the browser, "Firefox"; empty: it is an address that no browser has used
	At     time.Time  // when they asked, or used it
}

// Usable reports whether an address can still be used.
func (l Link) Usable(now time.Time) bool { return l.Name == "" && now.Sub(l.At) < linkFor }

// HashSecret returns the hash of a secret, as a [Link] and a [Holder] have it.
func HashSecret(secret string) string {
	hash := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(hash[:])
}

// links are what /link decides from.
type links struct {
	secret    string // for a new address
	address   string // of the local room, where pages are; empty in that room itself, if it is not known
	reachable bool   // people find it
	browsers  []Link
}

// linksOf loads what /link decides from. The secret follows from the request, as ids of games
// do, so that a request that is repeated gets the same answer.
func (b *Bot) linksOf(ctx context.Context, in *task) (*links, error) {
	drawn := make([]byte, 20)
	if b.rand != nil {
		if _, err := io.ReadFull(b.rand, drawn); err != nil {
			return nil, fmt.Errorf("draw the secret of a link: %w", err)
		}
	} else {
		secret, err := b.secret(ctx)
		if err != nil {
			return nil, err
		}
		h := hmac.New(sha256.New, secret)
		h.Write([]byte("link " + in.req.ID))
		drawn = h.Sum(nil)[:20]
	}
	browsers, err := b.store.Browsers(ctx, in.By)
	return &links{strings.ToLower(base32.StdEncoding.EncodeToString(drawn)), b.address, b.reachable(in.Request.Where), browsers}, err
}

// maxBrowsers is how many browsers a person can be. One more signs out the oldest.
const maxBrowsers = 10

// endLength is how much of its hash names a browser in a command.
const endLength = 8

// link gives a person the address that makes a browser them, or signs out browsers.
func link(in *task) match.Step {
	step := match.Step{Request: in.Request.ID, At: in.Now, Link: &match.Linking{Person: in.By}}
	if end := strings.ToLower(strings.TrimSpace(in.Request.Args["end"])); end != "" {
		for _, browser := range in.links.browsers {
			if end == "all" || len(end) == endLength && strings.HasPrefix(browser.Secret, end) {
				step.Link.End = append(step.Link.End, browser.Secret)
				step.Answer.Texts = append(step.Answer.Texts, say("link.ended", browser.Name))
			}
		}
		if step.Link.End == nil {
			return in.Refuse(say("link.none"))
		}
		step.Answer.Private = true
		return step
	}
	switch {
	case !in.links.reachable:
		return in.Refuse(say("link.nowhere"))
	case in.req.Who.Platform == LogPlatform && !strings.HasPrefix(in.req.Who.ID, "name:"):
		return in.Refuse(say("link.seat"))
	}
	step.Link.Secret = HashSecret(in.links.secret)
	texts := []Text{say("link.is", text.Address(in.links.address+"/link#"+in.links.secret))}
	var controls []match.Control
	if n := len(in.links.browsers); n > 0 {
		texts = append(texts, say("link.browsers", n))
		controls = []match.Control{{Label: "label.link.all", Command: "link", Args: map[string]string{"end": "all"}}}
	}
	step.Answer = match.Reply{Texts: texts, Controls: controls, Private: true}
	return step
}

// Continued reports that somebody has opened the address of a link and wants to go on as that
// person, who is told. Its error is ErrNotFound if the address was never given, was used or is
// too old.
type Continued struct {
	Secret  string // from the address
	Browser string // hash of the secret that the browser gets
	Name    string // what the browser is called, "Firefox"
}

func (r Continued) take(ctx context.Context, b *Bot) error {
	spent := HashSecret(r.Secret)
	l, err := b.store.Link(ctx, spent)
	if err != nil {
		return err
	}
	now := b.now().UTC().Truncate(time.Millisecond)
	if !l.Usable(now) {
		return ErrNotFound
	}
	browsers, err := b.store.Browsers(ctx, l.Person)
	if err != nil {
		return err
	}
	linking := match.Linking{Person: l.Person, Spends: spent, Secret: r.Browser, Name: shortened(r.Name)}
	for len(browsers) >= maxBrowsers {
		linking.End = append(linking.End, browsers[len(browsers)-1].Secret)
		browsers = browsers[:len(browsers)-1]
	}
	id := "link:" + spent
	step := match.Step{Request: id, At: now, By: l.Person, Where: l.Where, Link: &linking, People: []match.PersonID{l.Person},
		Posts: []match.OutboxPost{{ID: id, Where: l.Where, Kind: match.Notice, Private: true, Notify: []match.PersonID{l.Person},
			Texts:    []Text{say("link.linked", linking.Name)},
			Controls: []match.Control{{Label: "label.link.end", Command: "link", Args: map[string]string{"end": r.Browser[:endLength]}}}}}}
	_, err = b.outbox.Commit(ctx, &step, func() (any, error) { return nil, b.store.Commit(ctx, &step) })
	if errors.Is(err, ErrConflict) { // another browser was quicker, or the person was forgotten
		err = ErrNotFound
	}
	return err
}

// elsewhere returns why somebody who is not on the platform cannot do what they ask; nil:
// they can.
func (b *Bot) elsewhere(ctx context.Context, r Request, h handler) *Text {
	if h.noGame || h.opens || h.asks(r) {
		return new(say("elsewhere.command"))
	}
	m := b.members[r.Where.Platform]
	if m == nil {
		return new(say("elsewhere.unknown"))
	}
	in, err := m.Member(ctx, r.Who, r.Where)
	switch {
	case err != nil:
		b.log.Warn("not known whether somebody is still in a room, their turn is refused", "room", r.Where.Channel, "error", err)
		return new(say("elsewhere.unknown"))
	case !in:
		return new(say("elsewhere.gone"))
	}
	return nil
}
