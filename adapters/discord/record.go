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
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

const (
	maxRecord  = match.MaxDiagram // bytes
	recordTime = time.Second
)

// hosts are where Discord keeps the files of messages. Nothing else is fetched.
var hosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// errTooLarge is the error of a file that is larger than maxRecord.
var errTooLarge = errors.New("the file is too large")

// withFile reads the file that a command attaches, or the record that the message of a
// menu carries, into the option that is to hold it.
func (a *Adapter) withFile(ctx context.Context, r *bot.Request, c interaction.CommandData) error {
	m, ok := entry(c)
	if !ok {
		diagram, ok := diagramOption(r.Command)
		f, attached := c.Files[c.Option(fileOption).Text]
		if !ok || !attached {
			return nil
		}
		text, err := a.fetch(ctx, f)
		r.Args[diagram.Name] = text
		return err
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

// lacksDiagram returns the form that asks for a diagram, if a slash command has none:
// an option cannot have several lines. It returns nil if there is one.
func (a *Adapter) lacksDiagram(in interaction.Interaction) *rest.Response {
	r := bot.Request{Args: map[string]string{}}
	if in.Command.Target != "" || in.Command.Option(fileOption).Text != "" || !commanded(&r, in.Command) {
		return nil
	}
	o, ok := diagramOption(r.Command)
	p := press{r.Command, r.Args, o.Name}
	if !ok || strings.TrimSpace(r.Args[o.Name]) != "" || len(p.String()) > maxCustomID {
		return nil
	}
	return new(form(p, o.In(in.Locale), in.Locale))
}

// diagramOption finds the option of a command that takes a diagram.
func diagramOption(name string) (bot.Option, bool) {
	c, _ := bot.FindCommand(name)
	if i := slices.IndexFunc(c.Options, func(o bot.Option) bool { return o.Type == bot.DiagramOption }); i >= 0 {
		return c.Options[i], true
	}
	return bot.Option{}, false
}

// fetch reads a file of a message or of a command.
func (a *Adapter) fetch(ctx context.Context, f interaction.File) (string, error) {
	u, err := url.Parse(f.URL)
	if err != nil || !a.mayFetch(u) {
		return "", errors.New("file refused: not on Discord's servers")
	}
	if f.Size > maxRecord {
		return "", errTooLarge
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", errors.New("file refused: not on Discord's servers")
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: a.cfg.Dial, DisableKeepAlives: true}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(q)
	if err != nil {
		return "", errors.New("download of the file failed")
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxRecord+1))
	switch {
	case err != nil || resp.StatusCode != http.StatusOK:
		return "", errors.New("download of the file failed")
	case len(data) > maxRecord: // even if Discord reported a smaller size
		return "", errTooLarge
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
