package bot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The example says what the defaults are, and leaves nothing out.
func TestExampleConfiguration(t *testing.T) {
	path := filepath.Join("..", "config.example.yaml")
	s, err := ReadSettings(path)
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
	return ReadSettings(file)
}

// What the file says holds over the defaults, and the environment over that.
func TestSettings(t *testing.T) {
	file := "listen: 0.0.0.0:80\nhosts: [go.example.org]\nlimits:\n  person: 6\n  games_person: 7\n" +
		"discord:\n  token: a.b.c\n  public_key: cafe\n  guild: \"123456789012345678\"\n  shards: 4\nmatrix:\n  describe: true\n" // as older versions knew it
	s, err := settingsIn(t, file)
	if err != nil || s.Listen != "0.0.0.0:80" || !slices.Equal(s.Hosts, []string{"go.example.org"}) || s.Database != Defaults.Database ||
		s.Limits != (Limits{6, Defaults.Limits.Channel, GameLimits{7, Defaults.Limits.Games.Channel}}) ||
		s.Discord != (Discord{Token: NewSecret("a.b.c"), PublicKey: "cafe", Guild: "123456789012345678", Shards: 4}) ||
		!slices.Equal(s.Former, []string{"matrix.describe"}) {
		t.Errorf("%+v %v", s, err)
	}
	for name, value := range map[string]string{"LISTEN": "127.0.0.1:1", "RECORDS": "elsewhere", "HOSTS": "a.example,b.example", "LIMITS_CHANNEL": "300",
		"LIMITS_GAMES_CHANNEL": "70", "DISCORD_PUBLIC_KEY": "beef", "DISCORD_COUNT": "2", "DATABASE": ""} {
		t.Setenv("HALFPOINT_"+name, value)
	}
	s, err = settingsIn(t, file)
	if err != nil || s.Listen != "127.0.0.1:1" || !slices.Equal(s.Hosts, []string{"a.example", "b.example"}) || s.Database != Defaults.Database ||
		s.Limits != (Limits{6, 300, GameLimits{7, 70}}) ||
		s.Discord != (Discord{Token: NewSecret("a.b.c"), PublicKey: "beef", Guild: "123456789012345678", Shards: 4, Count: 2}) {
		t.Errorf("%+v %v", s, err)
	}
}

// What cannot be is refused, by an error that names the key and repeats no secret.
func TestBadSettings(t *testing.T) {
	const secret = "canary"
	for text, says := range map[string]string{
		"listen: 7\n":                    `listen: "7" is not an address`,
		"listen: 127.0.0.1:99999\n":      `listen: "127.0.0.1:99999" is not an address`,
		"listen: 127.0.0.1:-1\n":         `listen: "127.0.0.1:-1" is not an address`,
		"metrics: 127.0.0.1:65536\n":     `metrics: "127.0.0.1:65536" is not an address`,
		"databse: x\n":                   "databse: no such setting; did you mean database?",
		"database: ''\n":                 "database: the path is empty",
		"owner_token: canary789012345\n": "owner_token: is too short",
		"owner_token: canary7890123456\nlisten: '[::1]:http'\n":        "",
		"listen: 127.0.0.1:65535\n":                                    "",
		"limits:\n  person: 0\n":                                       "limits.person: must be a whole number, 1 or more",
		"limits:\n  person: -1\n":                                      "limits.person: must be a whole number, 1 or more",
		"limits:\n  games_person: many\n":                              "limits.games_person: must be a whole number, 1 or more",
		"limits:\n  games_channel: 1.5\n":                              "limits.games_channel: must be a whole number, 1 or more",
		"discord:\n  tokn: x\n":                                        "discord.tokn: no such setting; did you mean discord.token?",
		"discord:\n  token: canary\n  listen: 127.0.0.1:100000\n":      `discord.listen: "127.0.0.1:100000" is not an address`,
		"discord:\n  token: canary\n  shards: some\n":                  "discord.shards: must be a whole number",
		"discord:\n  token: canary\n  guild: Go club\n":                "discord.guild: must be an id",
		"discord:\n  token: \"canary\n":                                "c.yaml: ",
		"discord:\n  token: canary: 7\n":                               "c.yaml: ",
		"discord:\n  token: canary\n password: canary\n":               "c.yaml: ",
		"matrix:\n  homeserver: example.org\n  recovery_key: canary\n": "matrix.password: is missing",
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
