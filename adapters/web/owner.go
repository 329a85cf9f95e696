package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

var errNoOwner = errors.New("owner_token is missing; set it if other machines may reach the local room (docs/room.md)")

// CheckAccess returns an error if a room without an owner token would be reachable
// from other machines: by the address that it listens on, or by the names by which
// others are to find it. What a name of this machine resolves to is checked by Run.
func CheckAccess(address string, hosts []string, ownerToken bot.Secret) error {
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

// owner reports whether a request comes from a browser in which somebody gave
// the owner token.
func (s *server) owner(r *http.Request) bool {
	cookie, err := r.Cookie(ownerCookie)
	return err == nil && s.proves(cookie.Value)
}

// proves compares in constant time.
func (s *server) proves(proof string) bool {
	token := s.cfg.OwnerToken
	return !token.IsZero() && subtle.ConstantTimeCompare([]byte(proof), []byte(ownerProof(token.Reveal()))) == 1
}

var ownerPage = template.Must(template.New("owner.html").Funcs(template.FuncMap{"t": bot.Translated}).ParseFS(page, "page/owner.html"))

// An ownerView is the data of the owner's page.
type ownerView struct {
	Lang              string
	Configured, Owner bool
	Problem, Done     string
}

func (s *server) showOwner(w http.ResponseWriter, status int, v ownerView) {
	v.Configured = !s.cfg.OwnerToken.IsZero()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", strings.Replace(policy, "form-action 'none'", "form-action 'self'", 1))
	w.WriteHeader(status)
	if err := ownerPage.Execute(w, v); err != nil {
		s.log.Debug("sending the owner's page failed", "error", err)
	}
}

// ownerForm shows where the owner signs in.
func (s *server) ownerForm(w http.ResponseWriter, r *http.Request) {
	s.showOwner(w, http.StatusOK, ownerView{Lang: pageLanguage(browserLanguage(r)), Owner: s.owner(r)})
}

// ownerSubmit takes what the owner's page sends: the token, a name to release, or
// "leave".
func (s *server) ownerSubmit(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	lang := pageLanguage(browserLanguage(r))
	cookie := http.Cookie{Name: ownerCookie, Path: "/", HttpOnly: true, Secure: secure(r), SameSite: http.SameSiteStrictMode}
	switch token := strings.TrimSpace(r.PostFormValue("token")); {
	case r.PostFormValue("leave") != "":
		cookie.MaxAge = -1
		http.SetCookie(w, &cookie)
		s.showOwner(w, http.StatusOK, ownerView{Lang: lang, Done: bot.Translated(lang, wordLeft)})
	case s.proves(ownerProof(token)):
		cookie.Value, cookie.MaxAge = ownerProof(token), int(cookieYears/time.Second)
		http.SetCookie(w, &cookie)
		s.showOwner(w, http.StatusOK, ownerView{Lang: lang, Owner: true})
	case s.owner(r) && r.PostFormValue("release") != "":
		name := r.PostFormValue("release")
		v := ownerView{Lang: lang, Owner: true, Done: bot.Translated(lang, wordReleased, bot.CleanName(name))}
		ok, err := s.release(r.Context(), name)
		if err != nil {
			s.log.Error("releasing a name failed", "error", err)
		}
		if !ok || err != nil {
			v.Done, v.Problem = "", bot.Translated(lang, wordNotReleased)
		}
		s.showOwner(w, http.StatusOK, v)
	default:
		s.showOwner(w, http.StatusForbidden, ownerView{Lang: lang, Problem: bot.Translated(lang, wordNotOwner)})
	}
}
