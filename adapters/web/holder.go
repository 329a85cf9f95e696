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

// A seat is one of the two at the board. Room.mu guards it.
type seat struct {
	holder  string    // hash of the browser's secret; empty: nobody has sat here
	since   int64     // last private message from before the holder
	sat     time.Time // when the holder took it, or the room was opened
	open    int       // pages that the holder has open in it
	vacated time.Time // when the holder was last seen here
}

// taken says why somebody else cannot have the seat now; nil: they can.
func (st *seat) taken() problem {
	if st.holder == "" {
		return nil
	}
	if st.open > 0 {
		return problem{wordSeatTaken}
	}
	if left := seatGrace - time.Since(st.vacated); left > 0 {
		return problem{wordSeatWarm, strconv.Itoa(int(math.Ceil(left.Seconds())))}
	}
	return nil
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
		s.seats[who.ID] = &seat{holder: h.Secret, since: h.Since, sat: s.cfg.Now(), vacated: time.Now()}
	}
	return nil
}

// satSince returns when the holder of a seat took it.
func (s *server) satSince(id string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seats[id].sat
}

// otherSeat returns the seat that a browser may have instead of one in which somebody else
// sits, or that of an onlooker; empty: nobody else sits there.
func (s *server) otherSeat(who outbox.User, browser string) string {
	free := func(id string) bool {
		st := s.seats[id]
		return browser != "" && st.holder == browser || st.free()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.seats[who.ID] == nil || free(who.ID):
		return ""
	case who == black && free(white.ID):
		return "white"
	case who == white && free(black.ID):
		return "black"
	}
	return "onlooker"
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
	s.mu.Lock()
	st := s.seats[who.ID]
	mine, taken := browser != "" && st.holder == browser, st.taken()
	if mine {
		st.vacated = time.Now()
	}
	s.mu.Unlock()
	switch {
	case mine, taken == nil && browser == "":
		return nil, nil
	case taken != nil:
		return taken, nil
	}
	last, err := s.cfg.Log.Last(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if st.holder != browser && !st.free() { // somebody else was quicker
		s.mu.Unlock()
		return problem{wordSeatTaken}, nil
	}
	before := st.holder
	st.holder, st.since, st.open, st.sat, st.vacated = browser, last, 0, s.cfg.Now(), time.Now()
	s.grant(who.ID, browser, last)
	s.mu.Unlock()
	_, err = s.cfg.Log.Hold(ctx, bot.Holder{Platform: platform, ID: who.ID, Secret: browser, Since: last}, before)
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
	h, err = s.cfg.Log.Hold(ctx, mine, "")
	if errors.Is(err, bot.ErrAlike) {
		return problem{wordAlike}, nil
	}
	if err != nil {
		return nil, err
	}
	if h.Secret != browser { // somebody else was quicker
		return problem{wordNameTaken}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grant(who.ID, browser, h.Since)
	return nil, nil
}

// holder returns the holder of a name or seat, and whether anybody may take it.
func (s *server) holder(ctx context.Context, id string) (h bot.Holder, free bool, err error) {
	if st := s.seats[id]; st != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return bot.Holder{ID: id, Secret: st.holder, Since: st.since}, st.free(), nil
	}
	h, err = s.cfg.Log.Holder(ctx, platform, id)
	if errors.Is(err, bot.ErrNotFound) {
		return bot.Holder{}, true, nil
	}
	return h, h.Secret == "" && s.cfg.OwnerToken.IsZero(), err
}

// grant opens the private messages of a person to the pages of their browser, and
// closes them to others. The caller holds s.mu.
func (s *server) grant(id, browser string, since int64) {
	for st := range s.readers {
		if st.who.ID != id {
			continue
		}
		st.own = browser != "" && st.browser == browser
		st.since = since
		if seat := s.seats[id]; seat != nil && st.own {
			seat.open++
		}
	}
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
	if own, _, err = s.holds(ctx, who.ID, browser); own || err != nil || seatWith(who.ID) == nil {
		return own, false, err
	}
	other, err := s.heldByOther(ctx, who, browser)
	return false, !other, err
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grant(who.ID, "", 0)
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
