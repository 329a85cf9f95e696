package device

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"maunium.net/go/mautrix"
)

// server finds the URL of a homeserver from what the owner wrote: a URL, or a
// server name whose .well-known is asked.
func server(ctx context.Context, transport http.RoundTripper, homeserver string) (*url.URL, error) {
	if homeserver == "" {
		return nil, errors.New("matrix.homeserver: missing; set a server name (example.org) or a URL")
	}
	if strings.Contains(homeserver, "://") {
		return parseServer(homeserver)
	}
	if u, err := url.Parse("https://" + homeserver); err != nil || u.Host != homeserver || u.Hostname() == "" {
		return nil, fmt.Errorf("matrix.homeserver: %q is neither a URL nor a server name", homeserver)
	}
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	known, err := mautrix.DiscoverClientAPIWithClient(ctx, client, homeserver)
	if err != nil {
		return nil, fmt.Errorf("matrix.homeserver: look up the homeserver of %s: %w", homeserver, err)
	}
	if known == nil || known.Homeserver.BaseURL == "" {
		return parseServer("https://" + homeserver)
	}
	u, err := parseServer(known.Homeserver.BaseURL)
	if err == nil && u.Scheme != "https" {
		err = fmt.Errorf("matrix.homeserver: %s names %s, which is not https", homeserver, u)
	}
	return u, err
}

// parseServer takes https, and http for this machine only: the password and the
// token go over the line.
func parseServer(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil: // not wrapped: it repeats the text
		return nil, errors.New("matrix.homeserver: not a URL")
	case u.User != nil:
		return nil, errors.New("matrix.homeserver: the URL must not contain a user or password")
	case u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("matrix.homeserver: %s is not the URL of a server", u.Redacted())
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Hostname()):
		u.Path = strings.TrimRight(u.Path, "/")
		return u, nil
	}
	return nil, fmt.Errorf("matrix.homeserver: %s: must begin with https:// (http:// is for this machine alone)", u.Redacted())
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
