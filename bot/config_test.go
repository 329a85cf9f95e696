package bot

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/secret"
	"github.com/halfpoint-go/halfpoint/rules"
)

// The example says what the defaults are, and leaves nothing out.
func TestExampleConfiguration(t *testing.T) {
	path := filepath.Join("..", "config.example.yaml")
	s, err := ReadSettings(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Listen != Defaults.Listen || s.Database != Defaults.Database || len(s.Hosts) != 0 || s.Discord != Defaults.Discord || s.Limits != Defaults.Limits {
		t.Errorf("the example has %+v, the defaults are %+v", s, Defaults)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for key := range new(Settings).table() {
		line := "\n" + key + ":"
		if group, name, ok := strings.Cut(key, "."); ok {
			line = "\n  " + name + ":"
			if !strings.Contains(string(text), "\n"+group+":\n") {
				t.Errorf("the example does not know %s", group)
			}
		}
		if !strings.Contains(string(text), line) {
			t.Errorf("the example does not know %s", key)
		}
	}
}

// settingsIn reads settings from a file with a text.
func settingsIn(t *testing.T, text string) (Settings, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return ReadSettings(file, nil)
}

// The file overrides the defaults, and the environment overrides the file.
func TestSettings(t *testing.T) {
	file := "listen: 0.0.0.0:80\nhosts: [go.example.org]\nlimits:\n  person: 6\n  games_person: 7\n" +
		"discord:\n  token: a.b.c\n  public_key: cafe\n  guild: \"123456789012345678\"\n  shards: 4\n  first: 2\n  count: 2\n  message_content: true\nmatrix:\n  describe: true\n  owners: [\"@anna:example.org\"]\n" // as older versions knew it
	s, err := settingsIn(t, file)
	if err != nil || s.Listen != "0.0.0.0:80" || !slices.Equal(s.Hosts, []string{"go.example.org"}) || s.Database != Defaults.Database ||
		s.Limits != (Limits{6, Defaults.Limits.Channel, match.Limits{Person: 7, Channel: Defaults.Limits.Games.Channel}}) ||
		s.Discord != (Discord{Token: secret.New("a.b.c"), PublicKey: "cafe", Guild: "123456789012345678", Shards: 4, Content: true}) ||
		!slices.Equal(s.Former, []string{"discord.first", "discord.count", "matrix.describe", "matrix.owners"}) {
		t.Errorf("%+v %v", s, err)
	}
	for name, value := range map[string]string{"LISTEN": "127.0.0.1:1", "RECORDS": "elsewhere", "HOSTS": "a.example,b.example", "LIMITS_CHANNEL": "300",
		"LIMITS_GAMES_CHANNEL": "70", "DISCORD_PUBLIC_KEY": "beef", "DISCORD_SHARDS": "8", "DISCORD_MESSAGE_CONTENT": "no", "DATABASE": ""} {
		t.Setenv("HALFPOINT_"+name, value)
	}
	s, err = settingsIn(t, file)
	if err != nil || s.Listen != "127.0.0.1:1" || !slices.Equal(s.Hosts, []string{"a.example", "b.example"}) || s.Database != Defaults.Database ||
		s.Limits != (Limits{6, 300, match.Limits{Person: 7, Channel: 70}}) ||
		s.Discord != (Discord{Token: secret.New("a.b.c"), PublicKey: "beef", Guild: "123456789012345678", Shards: 8}) {
		t.Errorf("%+v %v", s, err)
	}
}

// An invalid setting is refused, by an error that names the key and repeats no secret.
func TestBadSettings(t *testing.T) {
	const secret = "canary"
	for text, says := range map[string]string{
		"disord:\n  token: x\n":      "c.yaml:1: disord: unknown key; did you mean discord?",
		"token: x\n":                 "c.yaml:1: token: unknown key; did you mean discord.token?",
		"colour: blue\n":             "c.yaml:1: colour: unknown key",
		"hosts: go.example.org\n":    "c.yaml:1: hosts: must be a list, such as [a, b]",
		"listen: [127.0.0.1:80]\n":   "c.yaml:1: listen: must be a single value",
		"discord: canary\n":          `c.yaml:1: discord: must hold settings, such as "api: …"`,
		"- listen\n":                 `c.yaml:1: must hold settings, such as "listen: 127.0.0.1:8080"`,
		"listen: :1\n\nlisten: :2\n": "c.yaml:3: listen: already set on line 1",
		"":                           "",
		"# nothing\n":                "",
		"discord:\nmatrix:\n":        "",
		"discord:\n  guild: 1234567890123456789\n  token: x":           "",
		"public_url: https://go.example.org:8443/\n":                   "",
		"public_url: http://[::1]:80\n":                                "",
		"public_url: go.example.org\n":                                 `public_url: "go.example.org" is not an address`,
		"public_url: https://go.example.org/room\n":                    "without a path",
		"public_url: https://ada:p@go.example.org\n":                   "public_url: ",
		"public_url: ftp://go.example.org\n":                           "public_url: ",
		"public_url: 'https://:80'\n":                                  "public_url: ",
		"listen: 7\n":                                                  `listen: "7" is not an address`,
		"listen: 127.0.0.1:99999\n":                                    `listen: "127.0.0.1:99999" is not an address`,
		"listen: 127.0.0.1:-1\n":                                       `listen: "127.0.0.1:-1" is not an address`,
		"metrics: 127.0.0.1:65536\n":                                   `metrics: "127.0.0.1:65536" is not an address`,
		"databse: x\n":                                                 "c.yaml:1: databse: unknown key; did you mean database?",
		"database: ''\n":                                               "database: must not be empty",
		"owner_token: canary789012345\n":                               "owner_token: too short",
		"owner_token: canary7890123456\nlisten: '[::1]:http'\n":        "",
		"listen: 127.0.0.1:65535\n":                                    "",
		"limits:\n  person: 0\n":                                       "limits.person: must be a whole number, 1 or more",
		"limits:\n  person: -1\n":                                      "limits.person: must be a whole number, 1 or more",
		"limits:\n  games_person: many\n":                              "limits.games_person: must be a whole number, 1 or more",
		"limits:\n  games_channel: 1.5\n":                              "limits.games_channel: must be a whole number, 1 or more",
		"discord:\n  tokn: x\n":                                        "c.yaml:2: discord.tokn: unknown key; did you mean discord.token?",
		"discord:\n  token: canary\n  listen: 127.0.0.1:100000\n":      `discord.listen: "127.0.0.1:100000" is not an address`,
		"discord:\n  token: canary\n  shards: some\n":                  "discord.shards: must be a whole number",
		"discord:\n  token: canary\n  guild: Go club\n":                "discord.guild: must be an id",
		"discord:\n  token: \"canary\n":                                "c.yaml:2: not YAML: ",
		"discord:\n  token: canary: 7\n":                               "c.yaml:2: not YAML: ",
		"discord:\n  token: canary\n password: canary\n":               "c.yaml:2: not YAML: ",
		"matrix:\n  homeserver: example.org\n  recovery_key: canary\n": "matrix.user: missing",
		"discord:\n  token: canary\n  message_content: maybe\n":        "discord.message_content: must be yes or no",
		"discord:\n  token: canary\n  message_content: no\n":           "",
		"discord:\n  token: canary\n  message_content: yes\n  listen: 127.0.0.1:1\n  public_key: x\n": "discord.message_content: messages come through the gateway alone",
	} {
		_, err := settingsIn(t, text)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%q shows the secret: %v", text, err)
		}
	}
}

// All mistakes are listed, in the order of the lines, and those of the environment
// and of flags by their names. A key that is only misspelled is not also missing.
func TestAllMistakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(`# A comment
listen: nowhere

discord:
  tokn: canary
  shards: some
limits:
  person: 0
matrix:
  homeserver: example.org
  usr: canary
`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HALFPOINT_METRICS", "127.0.0.1")
	_, err := ReadSettings(file, map[string]string{"database": ""})
	want := strings.ReplaceAll(`HALFPOINT_METRICS: metrics: "127.0.0.1" is not an address such as 127.0.0.1:9180
--database: must not be empty
FILE:2: listen: "nowhere" is not an address such as 127.0.0.1:8080
FILE:5: discord.tokn: unknown key; did you mean discord.token?
FILE:6: discord.shards: must be a whole number, 0 or more
FILE:8: limits.person: must be a whole number, 1 or more
FILE:11: matrix.usr: unknown key; did you mean matrix.user?`, "FILE", file)
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	_, err = settingsIn(t, "\nmatrix:\n  homeserver: example.org\n")
	if err == nil || !strings.HasSuffix(err.Error(), "c.yaml:3: matrix.user: missing") {
		t.Error(err)
	}
}

// A platform's error about a setting names the place where it was given.
func TestMistakeOfPlatform(t *testing.T) {
	t.Setenv("HALFPOINT_MATRIX_PASSWORD", "canary")
	s, err := settingsIn(t, "discord:\n  token: a\nmatrix:\n  homeserver: example.org\n  user: bot\n")
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{
		"discord.token: rejected by Discord": "c.yaml:2: discord.token: rejected by Discord",
		"matrix.password: rejected":          "HALFPOINT_MATRIX_PASSWORD: matrix.password: rejected",
		"discord.guild: the bot is not here": "discord.guild: the bot is not here",
		"Discord is on fire":                 "Discord is on fire",
	} {
		if got := s.Mistake(errors.New(said)).Error(); !strings.HasSuffix(got, want) {
			t.Errorf("%q becomes %q", said, got)
		}
	}
}

// Processes on one database compare digests of their settings: each one tells its setting from
// others, a secret cannot be guessed from it, and what each may have of its own has none.
func TestDigests(t *testing.T) {
	s := Defaults
	s.Discord.Token = secret.New("a token")
	is := s.Digests("salt", nil)
	for key := range s.table() {
		if _, there := is[key]; there != (key == "rulesets" || !slices.Contains(ownSettings, key)) {
			t.Errorf("%s has a digest: %t", key, there)
		}
	}
	for key, change := range map[string]func(*Settings){
		"discord.token": func(s *Settings) { s.Discord.Token = secret.New("another") },
		"matrix.allow":  func(s *Settings) { s.Matrix.Allow = []string{"a", "b"} },
		"limits.person": func(s *Settings) { s.Limits.Person++ },
		"":              func(s *Settings) { s.Listen, s.Database, s.Rulesets = "x", "y", []string{"elsewhere.yaml"} },
	} {
		other := s
		change(&other)
		for k, d := range other.Digests("salt", nil) {
			if (d != is[k]) != (k == key) {
				t.Errorf("with another %q the digest of %s is %s, and was %s", key, k, d, is[k])
			}
		}
	}
	for k, d := range s.Digests("pepper", nil) {
		if d == is[k] {
			t.Errorf("the digest of %s has no salt", k)
		}
	}
	if own := s.Digests("salt", []*rules.Ruleset{{Name: "mine", Version: 1}}); own["rulesets"] == is["rulesets"] {
		t.Error("a custom ruleset makes no difference")
	}
}
