package discord

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/bot"
)

const (
	maxRecord  = 256 << 10 // bytes
	recordTime = time.Second
)

// hosts are where Discord keeps the files of messages. Nothing else is fetched.
var hosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// withRecord reads the record that the message of a menu carries into the
// option that is to hold it.
func (a *Adapter) withRecord(ctx context.Context, r *bot.Request, c interaction.CommandData) error {
	m, ok := entry(c)
	if !ok {
		return nil
	}
	for _, f := range c.Messages[c.Target].Files {
		if strings.HasSuffix(strings.ToLower(f.Name), ".sgf") {
			text, err := a.fetch(ctx, f)
			r.Args[m.option] = text
			return err
		}
	}
	return nil
}

// fetch reads a file of a message.
func (a *Adapter) fetch(ctx context.Context, f interaction.File) (string, error) {
	u, err := url.Parse(f.URL)
	if err != nil || f.Size > maxRecord || !a.mayFetch(u) {
		return "", errors.New("not a record that may be fetched")
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", errors.New("not a record that may be fetched")
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: a.cfg.Dial, DisableKeepAlives: true}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(q)
	if err != nil {
		return "", errors.New("the record could not be fetched")
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxRecord+1))
	if err != nil || resp.StatusCode != http.StatusOK || len(data) > maxRecord {
		return "", errors.New("the record could not be fetched")
	}
	return string(data), nil
}

// mayFetch: from Discord's hosts, or in tests from the double that is the API.
func (a *Adapter) mayFetch(u *url.URL) bool {
	if u.User != nil {
		return false
	}
	api, err := url.Parse(a.cfg.API)
	return u.Scheme == "https" && slices.Contains(hosts, u.Host) || err == nil && api.Scheme == "http" && u.Scheme == "http" && u.Host == api.Host
}
