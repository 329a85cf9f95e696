package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

type healthCmd struct {
	Ready bool `help:"Ask whether the database and all platforms answer, instead of whether the main loops turn."`
}

// Run asks the running bot, at the address of its metrics, how it is. An image without a shell
// has no other way to check it.
func (c *healthCmd) Run(e *env) error {
	s, err := e.settings()
	var bad bot.BadSettings
	if err != nil && !errors.As(err, &bad) { // the running bot may have read the file before somebody broke it
		return err
	}
	if s.Metrics == "" {
		return usageError{errors.New(`"metrics" is not set: Halfpoint tells how it is at that address alone`)}
	}
	ctx, stop := interrupted()
	defer stop()
	path := "/healthz"
	if c.Ready {
		path = "/readyz"
	}
	// To dial 0.0.0.0 or [::] is to dial this machine.
	says, err := askHealth(ctx, path, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", s.Metrics)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.out, says)
	return err
}

// healthAnswers is within how much time the bot answers. It waits for its store until
// storeAnswers is over, and Docker ends the health check after ten seconds.
const healthAnswers = storeAnswers + 3*time.Second

// askHealth asks a bot how it is, and returns its answer. If that is not that all is well, or
// does not come in time, it is an error of one line.
func askHealth(ctx context.Context, path string, dial func(ctx context.Context, network, address string) (net.Conn, error)) (says string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, healthAnswers, fmt.Errorf("no answer within %v", healthAnswers))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://halfpoint"+path, nil)
	if err != nil {
		return "", err
	}
	var text []byte
	answer, err := (&http.Transport{DialContext: dial, DisableKeepAlives: true}).RoundTrip(r)
	if err == nil {
		defer answer.Body.Close()
		text, err = io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	}
	if err != nil && ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("no answer: %w", err)
	}
	says = strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "; ")
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", answer.Status, says)
	}
	return says, nil
}
