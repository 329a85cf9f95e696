package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/verify"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// socket returns the socket at which the running program answers halfpoint verify: beside
// the database, which one program at a time uses.
func socket(database string) string { return database + ".socket" }

// verifies is the bot that is verified: an adapter.
type verifies interface {
	Verification() *verify.Verification
	Verify(ctx context.Context, id string, match bool) error
}

// answer is what somebody who has compared the emoji says.
type answer struct {
	ID    string `json:"id"`
	Match bool   `json:"match"`
}

// control has halfpoint verify answered, for users of the machine who may write beside the
// database, until the function that it returns is called.
func control(database string, bot verifies) (closed func() error, err error) {
	nothing := func() error { return nil }
	if database == store.Memory {
		return nothing, nil
	}
	path := socket(database)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a program that was killed
		return nothing, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nothing, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nothing, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /verify", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(bot.Verification()) //nolint:errcheck // who has asked is gone
	})
	mux.HandleFunc("POST /verify", func(w http.ResponseWriter, r *http.Request) {
		var a answer
		err := json.NewDecoder(io.LimitReader(r.Body, 1<<10)).Decode(&a)
		if err == nil {
			err = bot.Verify(r.Context(), a.ID, a.Match)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	})
	s := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go s.Serve(l) //nolint:errcheck // it ends with Close
	return s.Close, nil
}

type verifyCmd struct{}

// Help says more than the list of commands.
func (*verifyCmd) Help() string {
	return "Name yourself in matrix.owners, then verify the bot in your client. Both show seven emoji. This command shows those of the running halfpoint, and reads from standard input whether they are the same: yes or no."
}

// Run shows the emoji of the verification that is waiting and asks whether the other
// side's are the same.
func (*verifyCmd) Run(e *env) error {
	database, err := e.existingDatabase()
	if err != nil {
		return err
	}
	ctx, stop := interrupted()
	defer stop()
	path := socket(database)
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	defer client.CloseIdleConnections()
	do := func(method string, body any) ([]byte, error) {
		ask, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		r, err := http.NewRequestWithContext(ctx, method, "http://halfpoint/verify", bytes.NewReader(ask))
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(r)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("no halfpoint with Matrix is running with the database %s", database)
		} else if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
		if err == nil && resp.StatusCode != http.StatusOK {
			err = errors.New(string(text))
		}
		return text, err
	}
	text, err := do(http.MethodGet, nil)
	if err != nil {
		return err
	}
	var waiting *verify.Verification
	if err := json.Unmarshal(text, &waiting); err != nil {
		return err
	}
	if waiting == nil {
		return errors.New("nobody is verifying the bot; begin in your client, and run this once it shows emoji")
	}
	fmt.Fprintf(e.out, "%s (device %s) verifies the bot. It shows:\n\n", waiting.User, waiting.Device)
	for _, emoji := range waiting.Emoji {
		fmt.Fprintln(e.out, "  "+emoji)
	}
	in := bufio.NewScanner(e.in)
	match, answered := false, false
	for !answered {
		fmt.Fprint(e.out, "\nDoes the other side show the same, in the same order? (yes/no) ")
		if !in.Scan() {
			fmt.Fprintln(e.out)
			return errors.New("no answer, so nothing is confirmed")
		}
		switch strings.ToLower(strings.TrimSpace(in.Text())) {
		case "yes", "y":
			match, answered = true, true
		case "no", "n":
			answered = true
		}
	}
	if _, err := do(http.MethodPost, answer{waiting.ID, match}); err != nil {
		return err
	}
	if match {
		fmt.Fprintln(e.out, "Confirmed. Once the other side has confirmed, too, the bot is verified.")
	} else {
		fmt.Fprintln(e.out, "Refused. Nothing is verified.")
	}
	return nil
}
