package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	template "github.com/DataDog/datadog-agent/pkg/template/text"
	"golang.org/x/term"

	"github.com/halfpoint-go/halfpoint/adapters/discord"
	"github.com/halfpoint-go/halfpoint/adapters/web"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

type initCmd struct{}

// Help says more than the list of commands.
func (*initCmd) Help() string {
	return "It writes config.yaml in the working directory, or the file that --config names, and never overwrites a file. It reads the answers from standard input, so a script can answer."
}

// Run asks for the settings that the bot needs, writes the configuration and tests it. It
// never overwrites a file.
func (*initCmd) Run(e *env) error {
	path := cmp.Or(e.cli.Config, "config.yaml")
	exists := fmt.Errorf("%s: file already exists and was not changed; edit it, or name a new file with --config", path)
	if _, err := os.Lstat(path); err == nil {
		return exists
	}
	q := &questions{in: e.in, out: e.out}
	a := q.all()
	if q.err != nil {
		return fmt.Errorf("init: %w; nothing was written", q.err)
	}
	var text bytes.Buffer
	if err := configText.Execute(&text, a); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return exists
	} else if err != nil {
		return plain(path, err)
	}
	_, err = f.Write(text.Bytes())
	if err := errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
		return plain(path, err)
	}
	fmt.Fprintf(e.out, "\nWrote %s, which only you can read. Trying it:\n\n", path)
	e.cli.Config = path
	failed := (&configCheckCmd{}).Run(e)

	flag := ""
	if !slices.Contains(configFiles(), path) {
		flag = " --config " + path
	}
	fmt.Fprintln(e.out)
	if a.made {
		fmt.Fprintf(e.out, "The owner token is in %s. Give it at /owner in the local room to become a moderator there.\n", path)
	}
	if a.Discord {
		fmt.Fprintf(e.out, "Invite the bot into a Discord server: %s\n", discord.Invite(cmp.Or(a.Application, a.id)))
	}
	if a.Matrix {
		if a.Browser {
			fmt.Fprintln(e.out, "At its start it logs an address: open that, and let the bot in.")
		}
		fmt.Fprintf(e.out, "Once halfpoint is running, invite %s into a Matrix room.\n", a.User)
	}
	if failed == nil {
		fmt.Fprintf(e.out, "Start it: halfpoint%s\n", flag)
	} else {
		fmt.Fprintf(e.out, "Something is wrong; the end of this output names it. Correct it in %s, then run: halfpoint config check%s\n", path, flag)
	}
	return failed
}

// answers holds the values for the configuration. Secrets in the environment are empty
// here.
type answers struct {
	Listen, Owner, Database string
	made                    bool // nobody has seen Owner yet

	Discord                    bool
	Token, Application         string // Application only if it is not id
	PublicKey, Interactions    string // only for interactions over HTTP
	id                         string // of the application, as the token says
	Matrix                     bool
	Homeserver, User, Password string
	Browser                    bool // the account logs in through it
}

// all asks all questions.
func (q *questions) all() (a answers) {
	where := q.ask("Where do people play: discord, matrix, both or none? The local room is always there", "discord", func(s string) error {
		if !slices.Contains([]string{"discord", "matrix", "both", "none"}, s) {
			return errors.New("answer discord, matrix, both or none")
		}
		return nil
	})
	if where == "discord" || where == "both" {
		q.discord(&a)
	}
	if where == "matrix" || where == "both" {
		q.matrix(&a)
	}
	a.Database = q.ask("The file that stores the games", cmp.Or(os.Getenv("HALFPOINT_DATABASE"), bot.Defaults.Database), setting("database"))
	a.Listen = q.ask("The address of the local room", cmp.Or(os.Getenv("HALFPOINT_LISTEN"), bot.Defaults.Listen), setting("listen"))
	if web.CheckAccess(a.Listen, nil, secret.Text{}) != nil {
		fmt.Fprintln(q.out, "Other machines can reach this address, so the room needs an owner token. Anybody who knows it can become a moderator.")
		a.Owner = q.secret("An owner token of 16 characters or more, or Enter to create one", "HALFPOINT_OWNER_TOKEN", func(s string) error {
			if s == "" {
				return nil
			}
			return setting("owner_token")(s)
		})
		if a.Owner == "" && os.Getenv("HALFPOINT_OWNER_TOKEN") == "" {
			a.Owner, a.made = rand.Text(), true
		}
	}
	return a
}

// discord asks for the settings of Discord, or leaves it out.
func (q *questions) discord(a *answers) {
	fmt.Fprintln(q.out, "The token is on the page Bot of your application: https://discord.com/developers/applications\nPress Enter without a token to leave Discord out.")
	a.Token = q.secret("Discord: the bot's token", "HALFPOINT_DISCORD_TOKEN", func(s string) (err error) {
		if s != "" {
			a.id, err = discord.CheckToken(strings.TrimPrefix(s, "Bot "))
		}
		return err
	})
	if a.Discord = a.id != ""; !a.Discord {
		q.leftOut("Discord", "discord.token")
		return
	}
	if a.Application = q.ask("Discord: the application's id", a.id, setting("discord.application")); a.Application == a.id {
		a.Application = ""
	}
	a.PublicKey = q.ask("Discord: the application's public key if interactions come over HTTP, else Enter", "", func(s string) error {
		if s != "" && (len(s) != 64 || strings.Trim(strings.ToLower(s), "0123456789abcdef") != "") {
			return errors.New("a public key is 64 digits and letters from a to f; leave it empty for the gateway")
		}
		return nil
	})
	if a.PublicKey != "" {
		a.Interactions = q.ask("Discord: the address to listen on for interactions", "127.0.0.1:8081", setting("discord.listen"))
	}
}

// matrix asks for the settings of Matrix, or leaves it out.
func (q *questions) matrix(a *answers) {
	a.Homeserver = q.ask("Matrix: the homeserver, its name or address (example.org), or Enter to leave Matrix out", "", func(string) error { return nil })
	if a.Matrix = a.Homeserver != ""; !a.Matrix {
		q.leftOut("Matrix", "matrix.homeserver")
		return
	}
	a.User = q.ask("Matrix: the bot's account (@halfpoint:example.org)", "", given)
	a.Password = q.secret("Matrix: the account's password (empty if it logs in through the browser)", "HALFPOINT_MATRIX_PASSWORD", func(string) error { return nil })
	a.Browser = a.Password == "" && os.Getenv("HALFPOINT_MATRIX_PASSWORD") == ""
}

// leftOut says that a platform is not in the configuration, and how to add it.
func (q *questions) leftOut(platform, key string) {
	if q.err == nil {
		fmt.Fprintf(q.out, "  %s is left out. To add it later, set %s as config.example.yaml shows.\n", platform, key)
	}
}

// given refuses an empty answer.
func given(s string) error {
	if s == "" {
		return errors.New("this question needs an answer; Ctrl-C ends without writing anything")
	}
	return nil
}

// setting returns a function that says what is wrong with the value of a setting.
func setting(key string) func(string) error {
	return func(value string) error {
		_, err := bot.ReadSettings("", map[string]string{key: value})
		var all bot.BadSettings
		errors.As(err, &all)
		for _, bad := range all {
			if bad.Key == "--"+key {
				return errors.New(bad.Why)
			}
		}
		return nil
	}
}

// questions asks somebody at a terminal, or a script. After an error it asks nothing
// more and returns empty answers.
type questions struct {
	in  io.Reader
	out io.Writer
	err error
}

// ask asks until the answer is valid. An empty answer means the usual one.
func (q *questions) ask(what, usual string, wrong func(string) error) string {
	prompt := what + ": "
	if usual != "" {
		prompt = what + " [" + usual + "]: "
	}
	return q.until(prompt, func() (string, error) {
		answer, err := q.line()
		return cmp.Or(answer, usual), err
	}, wrong)
}

// secret asks for a secret without showing it. If the environment has it, secret does not
// ask, and the file does not contain it.
func (q *questions) secret(what, variable string, wrong func(string) error) string {
	if value := os.Getenv(variable); value != "" && q.err == nil {
		fmt.Fprintf(q.out, "%s: taken from %s, and not written\n", what, variable)
		if err := wrong(value); err != nil {
			q.err = fmt.Errorf("%s: %w", variable, err)
		}
		return ""
	}
	f, ok := q.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return q.until(what+": ", q.line, wrong)
	}
	return q.until(what+" (not shown): ", func() (string, error) {
		fd := int(f.Fd())
		state, err := term.GetState(fd)
		if err != nil {
			return "", err
		}
		ctx, stop := interrupted()
		defer stop()
		defer context.AfterFunc(ctx, func() { // leave the terminal as it was
			term.Restore(fd, state) //nolint:errcheck // the program ends anyway
			fmt.Fprintln(q.out)
			os.Exit(1)
		})()
		answer, err := term.ReadPassword(fd)
		fmt.Fprintln(q.out)
		return strings.TrimSpace(string(answer)), err
	}, wrong)
}

// until asks with a prompt until the answer is valid.
func (q *questions) until(prompt string, read func() (string, error), wrong func(string) error) string {
	for q.err == nil {
		fmt.Fprint(q.out, prompt)
		answer, err := read()
		if err == io.EOF {
			err = errors.New("the input ended before all questions were answered")
		}
		if q.err = err; err != nil {
			break
		}
		if !utf8.ValidString(answer) || strings.ContainsFunc(answer, unicode.IsControl) {
			err = errors.New("it contains control characters or is not UTF-8")
		} else {
			err = wrong(answer)
		}
		if err == nil {
			return answer
		}
		fmt.Fprintf(q.out, "  Not accepted: %v.\n", err)
	}
	return ""
}

// maxAnswer is the longest answer, in bytes.
const maxAnswer = 4096

// line reads a line, without the blanks around it. It reads byte by byte, because a
// secret for another reader may follow the line.
func (q *questions) line() (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < maxAnswer; {
		n, err := q.in.Read(b)
		if n > 0 && b[0] == '\n' || err == io.EOF && len(line) > 0 {
			return strings.TrimSpace(string(line)), nil
		}
		if err != nil {
			return "", err
		}
		line = append(line, b[:n]...)
	}
	return "", errors.New("the line is too long")
}

// configText is the file that init writes.
var configText = template.Must(template.New("").Funcs(template.FuncMap{"quote": func(s string) (string, error) {
	var b strings.Builder // JSON's strings are YAML's
	j := json.NewEncoder(&b)
	j.SetEscapeHTML(false)
	err := j.Encode(s)
	return strings.TrimSpace(b.String()), err
}}).Parse(`# Halfpoint's configuration, written by "halfpoint init". All settings:
# https://github.com/halfpoint-go/halfpoint/blob/main/config.example.yaml
# After a change run "halfpoint config check", then start halfpoint again.

# The address of the local room. On a loopback address only this machine reaches it.
listen: {{quote .Listen}}
{{- if .Owner}}

# Anybody who enters this secret at /owner in the local room becomes a moderator there.
owner_token: {{quote .Owner}}
{{- end}}

# The SQLite file that stores the games. docs/install.md explains how to back it up.
database: {{quote .Database}}
{{- if .Discord}}

discord:
{{- if .Token}}
  # Anybody who has the token controls your bot. For a new one, press Reset Token on the page
  # Bot of the application.
  token: {{quote .Token}}
{{- else}}
  # The token is in the environment, as HALFPOINT_DISCORD_TOKEN.
  token: ""
{{- end}}
{{- if .Application}}

  # The application's id.
  application: {{quote .Application}}
{{- end}}
{{- if .PublicKey}}

  # Interactions come over HTTP to this address. Put a server with HTTPS before it, and
  # write that server's address as Interactions Endpoint URL into the application's page.
  listen: {{quote .Interactions}}
  public_key: {{quote .PublicKey}}
{{- end}}
{{- end}}
{{- if .Matrix}}

matrix:
  # The name of the homeserver or its address.
  homeserver: {{quote .Homeserver}}

  # The bot's account{{if not .Browser}} and its password{{end}}.
  user: {{quote .User}}
{{- if .Browser}}

  # The account has no password here: it logs in through the browser. At its start
  # halfpoint logs the address where you let it in.
{{- else if .Password}}
  password: {{quote .Password}}
{{- else}}
  # The password is in the environment, as HALFPOINT_MATRIX_PASSWORD.
{{- end}}
{{- end}}
`))
