package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

var errNoOwner = errors.New("owner_token is missing; set it if other machines may reach the local room (docs/room.md)")

// CheckAccess returns an error if a room without an owner token would be reachable
// from other machines: by the address that it listens on, or by the names by which
// others are to find it. What a name of this machine resolves to is checked by Run.
func CheckAccess(address string, hosts []string, ownerToken secret.Text) error {
	host, _, err := net.SplitHostPort(address)
	ip, unresolved := netip.ParseAddr(host)
	switch {
	case !ownerToken.IsZero():
		return nil
	case len(hosts) > 0:
		return fmt.Errorf("hosts: %w", errNoOwner)
	case err != nil || host != "" && unresolved != nil || ip.Unmap().IsLoopback():
		return nil
	}
	return fmt.Errorf("listen: %s: %w", address, errNoOwner)
}

// proxied reports whether a request shows that it came through a proxy. A proxy
// that hides itself well is not recognized: rights never follow from the answer.
func proxied(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "Via" || name == "X-Real-Ip" {
			return true
		}
	}
	// nginx as it is installed speaks HTTP/1.0 and replaces the Host; browsers speak
	// HTTP/1.1 at least, and name the host that they asked in Origin.
	if !r.ProtoAtLeast(1, 1) {
		return true
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Host != "" && r.Header.Get("Sec-Fetch-Site") == "same-origin" && !strings.EqualFold(origin.Host, r.Host)
}

// hostCookie is the name of the cookie that the page sets to say by which host a browser
// sees it, in letters, digits and hyphens. Ports of a host share their cookies.
func hostCookie(host string) string {
	return "halfpoint-at-" + notInCookies.ReplaceAllString(strings.ToLower(host), "-")
}

var notInCookies = regexp.MustCompile(`[^a-z0-9]+`)

// direct reports whether a request shows that its browser sees the room at the host to which
// it was sent: by Origin, which browsers send with every POST, or by the cookie of the page,
// which they send with reads, too. Then no proxy has replaced the host. A program can say
// what it likes, so rights never follow from the answer.
func direct(r *http.Request) bool {
	if origin, err := url.Parse(r.Header.Get("Origin")); err == nil && strings.EqualFold(origin.Host, r.Host) {
		return true
	}
	_, err := r.Cookie(hostCookie(r.Host))
	return err == nil
}

// secure reports whether the browser came by HTTPS, to a proxy.
func secure(r *http.Request) bool { return r.Header.Get("X-Forwarded-Proto") == "https" }

const (
	ownerCookie = "halfpoint-owner"
	cookieYears = 365 * 24 * time.Hour
)

// ownerProof is what an owner's browser keeps instead of the token. It is of no
// use once the token has been changed.
func ownerProof(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("halfpoint owner"))
	return hex.EncodeToString(mac.Sum(nil))
}

// ownerCookieOf returns the proof that a browser keeps; empty: none.
func ownerCookieOf(r *http.Request) string {
	cookie, err := r.Cookie(ownerCookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// proves compares in constant time.
func (s *server) proves(proof string) bool {
	token := s.cfg.OwnerToken
	return !token.IsZero() && subtle.ConstantTimeCompare([]byte(proof), []byte(ownerProof(token.Reveal()))) == 1
}

// An ownerView is the data of the owner's page.
type ownerView struct {
	head
	Configured, Owner bool
	Problem, Done     string
}

func (s *server) showOwner(w http.ResponseWriter, status int, lang string, v ownerView) {
	v.head = head{Lang: lang, Title: bot.Translated(lang, wordOwnerPage)}
	v.Configured = !s.cfg.OwnerToken.IsZero()
	s.write(w, status, "owner.html", false, v)
}

// checkOwner reports whether a proof is that of the owner. Each address may be wrong only
// so often; after that it has to wait, and the proof is not looked at.
func (s *server) checkOwner(r *http.Request, proof string) (ok bool, wait time.Duration) {
	if proof == "" || s.cfg.OwnerToken.IsZero() {
		return false, 0
	}
	address := addressOf(r)
	if wait := s.limits.guesses.Spend(address, 1, s.cfg.Now()); wait > 0 {
		return false, wait
	}
	if ok = s.proves(proof); ok {
		s.limits.guesses.Spend(address, -1, s.cfg.Now())
	}
	return ok, 0
}

// ownerWait answers an address that was wrong too often.
func (s *server) ownerWait(w http.ResponseWriter, lang string, wait time.Duration) {
	n := strconv.Itoa(seconds(wait))
	w.Header().Set("Retry-After", n)
	s.showOwner(w, http.StatusTooManyRequests, lang, ownerView{Problem: bot.Translated(lang, wordGuesses, n)})
}

// ownerForm shows where the owner signs in.
func (s *server) ownerForm(w http.ResponseWriter, r *http.Request) {
	lang := pageLanguage(browserLanguage(r))
	owner, wait := s.checkOwner(r, ownerCookieOf(r))
	if wait > 0 {
		s.ownerWait(w, lang, wait)
		return
	}
	s.showOwner(w, http.StatusOK, lang, ownerView{Owner: owner})
}

// ownerSubmit takes what the owner's page sends: the token, a name to release, or
// "leave".
func (s *server) ownerSubmit(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := s.readBody(w, r.ParseForm); err != nil {
		http.Error(w, "That cannot be read.", http.StatusBadRequest)
		return
	}
	lang := pageLanguage(browserLanguage(r))
	// Not Strict: somebody who follows a link to this page would be none of its owners. A
	// form of another page sends no cookie, and is refused.
	cookie := http.Cookie{Name: ownerCookie, Path: "/", HttpOnly: true, Secure: secure(r), SameSite: http.SameSiteLaxMode}
	token := strings.TrimSpace(r.PostFormValue("token"))
	leaves, release := r.PostFormValue("leave") != "", r.PostFormValue("release")
	proof := ownerProof(token)
	if release != "" && token == "" {
		proof = ownerCookieOf(r)
	}
	ok, wait := false, time.Duration(0)
	if !leaves {
		ok, wait = s.checkOwner(r, proof)
	}
	switch {
	case wait > 0:
		s.ownerWait(w, lang, wait)
	case leaves:
		cookie.MaxAge = -1
		http.SetCookie(w, &cookie)
		s.showOwner(w, http.StatusOK, lang, ownerView{Done: bot.Translated(lang, wordLeft)})
	case ok && token != "":
		cookie.Value, cookie.MaxAge = ownerProof(token), int(cookieYears/time.Second)
		http.SetCookie(w, &cookie)
		s.showOwner(w, http.StatusOK, lang, ownerView{Owner: true})
	case ok:
		v := ownerView{Owner: true, Done: bot.Translated(lang, wordReleased, bot.CleanName(release))}
		ok, err := s.release(r.Context(), release)
		if err != nil {
			s.log.Error("releasing a name failed", "error", err)
		}
		if !ok || err != nil {
			v.Done, v.Problem = "", bot.Translated(lang, wordNotReleased)
		}
		s.showOwner(w, http.StatusOK, lang, v)
	default:
		s.showOwner(w, http.StatusForbidden, lang, ownerView{Problem: bot.Translated(lang, wordNotOwner)})
	}
}
