package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Nobody logs in here, so a browser proves who it is by a random secret in a
// cookie. A name belongs to the browser that used it first. The seats Black and
// White are for anybody who sits there now: a seat belongs to the browser that used
// it last until its page has been closed for seatGrace. The bot's private messages
// go to the browser that holds the name or seat, and a new one in a seat does not
// see those of the last. Onlooker is everybody and nobody.

const (
	browserCookie = "halfpoint-browser"
	seatGrace     = 20 * time.Second
	seatKept      = seatGrace + heartbeat + 10*time.Second // from each heartbeat of its page, which may be slow
)

// browserOf returns the hash of the secret of a request's browser; empty: it has
// none.
func browserOf(r *http.Request) string {
	cookie, err := r.Cookie(browserCookie)
	if err != nil || cookie.Value == "" {
		return ""
	}
	return bot.HashSecret(cookie.Value)
}

// introduce gives a browser a secret, or lets it keep the one that it has for
// another year, and returns its hash.
func introduce(w http.ResponseWriter, r *http.Request) string {
	secret := rand.Text()
	if cookie, err := r.Cookie(browserCookie); err == nil {
		secret = cmp.Or(cookie.Value, secret)
	}
	// Not Strict: a browser that follows a link to the room would lack its cookie and
	// get another.
	http.SetCookie(w, &http.Cookie{Name: browserCookie, Value: secret, Path: "/", HttpOnly: true, Secure: secure(r),
		SameSite: http.SameSiteLaxMode, MaxAge: int(cookieYears / time.Second)})
	return bot.HashSecret(secret)
}

// A seat is one of the two at the board, as this process knows it. Room.mu guards it.
type seat struct {
	bot.Holder           // its Secret is empty if nobody has sat here
	sat        time.Time // when the holder took it, or the room was opened
	until      time.Time // before that nobody else can take it
}

// taken says why somebody else cannot have the seat now; nil: they can.
func (st *seat) taken() problem {
	left := time.Until(st.until)
	switch {
	case st.Secret == "" || left <= 0:
		return nil
	case left > seatGrace: // a page is open in it
		return problem{wordSeatTaken}
	}
	return problem{wordSeatWarm, strconv.Itoa(int(math.Ceil(left.Seconds())))}
}

func (st *seat) free() bool { return st.taken() == nil }

// A problem is a text of the room, and its arguments; nil: there is none.
type problem []string

// openSeats reads the holders of the seats from before the restart.
func (s *server) openSeats(ctx context.Context) error {
	s.seats = map[string]*seat{}
	for _, who := range []outbox.User{black, white} {
		h, err := s.cfg.Log.Holder(ctx, platform, who.ID)
		if err != nil && !errors.Is(err, bot.ErrNotFound) {
			return err
		}
		until := time.Now().Add(seatGrace) // the page may still be open
		if s.cfg.Shared {
			until = s.steady(h.Kept)
		}
		s.seats[who.ID] = &seat{h, s.cfg.Now(), until}
	}
	return nil
}

// steady returns a time by the clock of this process that nobody sets.
func (s *server) steady(t time.Time) time.Time {
	if left := t.Sub(s.cfg.Now()); !t.IsZero() && left <= seatKept { // else that clock was set back
		return time.Now().Add(left)
	}
	return time.Time{}
}

// look reads who has a seat, if another process may know better than this one. It knows no less
// if it knows that the browser has the seat for now.
func (s *server) look(ctx context.Context, id, browser string) error {
	s.mu.Lock()
	st := s.seats[id]
	known := st == nil || !s.cfg.Shared || browser != "" && st.Secret == browser && st.taken() != nil
	s.mu.Unlock()
	if known {
		return nil
	}
	h, err := s.cfg.Log.Holder(ctx, platform, id)
	if err != nil && !errors.Is(err, bot.ErrNotFound) {
		return err
	}
	s.note(id, h, s.steady(h.Kept))
	return nil
}

// note notes who has a seat, as it is stored, and until when.
func (s *server) note(id string, h bot.Holder, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.seats[id]
	if st.Secret != h.Secret {
		st.sat = s.cfg.Now()
	}
	st.Holder, st.until = h, until
}

// keep keeps a seat for a browser, if that has it, unless it is kept for at least some time anyway:
// as long as a page is open in it, and seatGrace longer. It reports whether the browser has the seat.
func (s *server) keep(ctx context.Context, id, browser string, atLeast time.Duration) (bool, error) {
	if err := s.look(ctx, id, browser); err != nil {
		return false, err
	}
	s.mu.Lock()
	st := s.seats[id]
	if st == nil || browser == "" || st.Secret != browser {
		s.mu.Unlock()
		return false, nil
	}
	if time.Until(st.until) >= atLeast {
		s.mu.Unlock()
		return true, nil
	}
	d := s.stays(id, browser)
	st.until = time.Now().Add(d)
	s.mu.Unlock()
	if !s.cfg.Shared {
		return true, nil
	}
	kept, err := s.cfg.Log.KeepHolder(ctx, bot.Holder{Platform: platform, ID: id, Secret: browser, Kept: s.cfg.Now().Add(d)})
	if !kept || err != nil { // somebody else may have it
		s.mu.Lock()
		defer s.mu.Unlock()
		st.until = time.Time{}
	}
	return kept, err
}

// always is longer than a seat is kept.
const always = time.Hour

// stays returns for how long a browser is sure of its seat. The caller holds s.mu.
func (s *server) stays(id, browser string) time.Duration {
	for st := range s.readers {
		if st.who.ID == id && st.browser == browser {
			return seatKept
		}
	}
	return seatGrace
}

// satSince returns when the holder of a seat took it.
func (s *server) satSince(id string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seats[id].sat
}

// otherSeat returns the seat that a browser may have instead of one in which somebody else
// sits, or that of an onlooker; empty: nobody else sits there.
func (s *server) otherSeat(ctx context.Context, who outbox.User, browser string) (string, error) {
	if s.seats[who.ID] == nil {
		return "", nil
	}
	if err := errors.Join(s.look(ctx, black.ID, browser), s.look(ctx, white.ID, browser)); err != nil {
		return "", err
	}
	free := func(id string) bool {
		st := s.seats[id]
		return browser != "" && st.Secret == browser || st.free()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case free(who.ID):
		return "", nil
	case who == black && free(white.ID):
		return "white", nil
	case who == white && free(black.ID):
		return "black", nil
	}
	return "onlooker", nil
}

// admit lets a browser act as somebody, and takes the name or seat for it if that
// is free. Otherwise it returns the problem. A client without cookies may act in
// a seat that is free, and does not keep it. New names count against the limits of c, which
// came without a secret if browser has just been given one.
func (s *server) admit(ctx context.Context, who outbox.User, browser string, c client) (problem, error) {
	switch {
	case who == onlooker:
		return nil, nil
	case s.seats[who.ID] != nil:
		return s.takeSeat(ctx, who, browser)
	default:
		return s.takeName(ctx, who, browser, c)
	}
}

func (s *server) takeSeat(ctx context.Context, who outbox.User, browser string) (problem, error) {
	if mine, err := s.keep(ctx, who.ID, browser, seatGrace); mine || err != nil {
		return nil, err
	}
	s.mu.Lock()
	before, taken := s.seats[who.ID].Holder, s.seats[who.ID].taken()
	s.mu.Unlock()
	if taken != nil || browser == "" {
		return taken, nil
	}
	last, err := s.cfg.Log.Last(ctx)
	if err != nil {
		return nil, err
	}
	mine := bot.Holder{Platform: platform, ID: who.ID, Secret: browser, Since: last}
	if s.cfg.Shared {
		mine.Kept = s.cfg.Now().Add(seatGrace)
	}
	h, err := s.cfg.Log.Hold(ctx, mine, before)
	if err != nil {
		return nil, err
	}
	s.note(who.ID, h, time.Now().Add(seatGrace))
	if h.Secret != browser { // somebody else was quicker
		return problem{wordSeatTaken}, nil
	}
	_, err = s.keep(ctx, who.ID, browser, always)
	return nil, err
}

func (s *server) takeName(ctx context.Context, who outbox.User, browser string, c client) (problem, error) {
	if browser == "" {
		return problem{wordNameTaken}, nil
	}
	h, free, err := s.holder(ctx, who.ID)
	mine := bot.Holder{Platform: platform, ID: who.ID, Looks: rooms.Looks(who.Name), Secret: browser}
	switch {
	case err != nil:
		return nil, err
	case h.Secret == browser:
		return nil, nil
	case h.Secret != "":
		return problem{wordNameTaken}, nil
	case !free:
		// Where others come in, a name from before names had holders is not for the
		// first stranger who tries it.
		return problem{wordOldName}, nil
	case h.ID == "": // else it is an old name, and its private messages are for its holder
		if mine.Since, err = s.cfg.Log.Last(ctx); err != nil {
			return nil, err
		}
	}
	if wait, _ := s.limits.names.spend(c, 1, s.cfg.Now()); wait > 0 {
		return problem{wordNames, strconv.Itoa(max(2, int(math.Ceil(wait.Minutes()))))}, nil
	}
	h, err = s.cfg.Log.Hold(ctx, mine, bot.Holder{})
	if errors.Is(err, bot.ErrAlike) {
		return problem{wordAlike}, nil
	}
	if err != nil {
		return nil, err
	}
	if h.Secret != browser { // somebody else was quicker
		return problem{wordNameTaken}, nil
	}
	return nil, nil
}

// holder returns the holder of a name or seat, and whether anybody may take it.
func (s *server) holder(ctx context.Context, id string) (h bot.Holder, free bool, err error) {
	if st := s.seats[id]; st != nil {
		err = s.look(ctx, id, "")
		s.mu.Lock()
		defer s.mu.Unlock()
		return st.Holder, st.free(), err
	}
	h, err = s.cfg.Log.Holder(ctx, platform, id)
	if errors.Is(err, bot.ErrNotFound) {
		return bot.Holder{}, true, nil
	}
	return h, h.Secret == "" && s.cfg.OwnerToken.IsZero(), err
}

// holds reports whether a browser may see what is for a person alone, and after
// which message.
func (s *server) holds(ctx context.Context, id, browser string) (yes bool, since int64, err error) {
	if id == onlooker.ID {
		return true, 0, nil
	}
	if browser == "" {
		return false, 0, nil
	}
	h, _, err := s.holder(ctx, id)
	return err == nil && h.Secret == browser, h.Since, err
}

// heldByOther reports whether a name or seat belongs to another browser.
func (s *server) heldByOther(ctx context.Context, who outbox.User, browser string) (bool, error) {
	h, free, err := s.holder(ctx, who.ID)
	return h.Secret != browser && !free, err
}

// claim reports whether a name or seat belongs to a browser, and whether it is a seat that the
// browser can take instead.
func (s *server) claim(ctx context.Context, who outbox.User, browser string) (own, open bool, err error) {
	h, free, err := s.holder(ctx, who.ID)
	own = browser != "" && h.Secret == browser
	return own, !own && seatWith(who.ID) != nil && (free || h.Secret == browser), err
}

// act is what somebody with the owner token did outside of the commands.
func (s *server) act(what text.Message) *match.Act {
	return &match.Act{Where: match.Room{Platform: platform, Channel: channel}, At: s.cfg.Now(), What: what}
}

// release frees a name, as its owner's page asks. It reports false if nobody can
// have it.
func (s *server) release(ctx context.Context, name string) (bool, error) {
	who, problem := userOf("name:" + name)
	if problem != "" {
		return false, nil
	}
	var act *match.Act
	switch _, err := s.cfg.Log.Holder(ctx, platform, who.ID); {
	case errors.Is(err, bot.ErrNotFound): // nobody has the name
	case err != nil:
		return false, err
	default:
		p, err := s.cfg.Log.Person(ctx, who)
		if err != nil {
			return false, err
		}
		act = s.act(bot.ReleasedName(p))
	}
	if err := s.cfg.Log.Release(ctx, platform, who.ID, act); err != nil {
		return false, err
	}
	return true, nil
}

// mayRead reports whether a browser may see a message.
func (s *server) mayRead(ctx context.Context, m outbox.Message, browser string) (bool, error) {
	id, private := strings.CutPrefix(m.Room, channel+"/")
	if !private {
		return m.Room == channel, nil
	}
	yes, since, err := s.holds(ctx, id, browser)
	return yes && m.N > since, err
}
