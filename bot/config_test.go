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

func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("listen: 0.0.0.0:80\nhosts: [go.example.org]\n")
	s, err := ReadSettings(file)
	if err != nil || s.Listen != "0.0.0.0:80" || len(s.Hosts) != 1 || s.Database != Defaults.Database {
		t.Errorf("%+v %v", s, err)
	}
	write("matrix:\n  describe: true\n") // as older versions knew it
	if s, err = ReadSettings(file); err != nil || !slices.Equal(s.Former, []string{"matrix.describe"}) {
		t.Errorf("%+v %v", s, err)
	}
	write("listen: 0.0.0.0:80\n")
	t.Setenv("HALFPOINT_LISTEN", "127.0.0.1:1")
	t.Setenv("HALFPOINT_RECORDS", "elsewhere")
	t.Setenv("HALFPOINT_HOSTS", "a.example,b.example")
	if s, err = ReadSettings(file); err != nil || s.Listen != "127.0.0.1:1" || len(s.Hosts) != 2 {
		t.Errorf("%+v %v", s, err)
	}
	t.Setenv("HALFPOINT_LIMITS_CHANNEL", "300")
	t.Setenv("HALFPOINT_LIMITS_GAMES_CHANNEL", "70")
	write("limits:\n  person: 6\n  games_person: 7\n")
	if s, err = ReadSettings(file); err != nil || s.Limits != (Limits{6, 300, GameLimits{7, 70}}) {
		t.Errorf("%+v %v", s, err)
	}
	for _, bad := range []string{"0", "-1", "many", "1.5"} {
		for _, key := range []string{"person", "games_person"} {
			write("limits:\n  " + key + ": " + bad + "\n")
			if _, err = ReadSettings(file); err == nil || !strings.Contains(err.Error(), "limits."+key+": must be a whole number") {
				t.Errorf("%s: %s: %v", key, bad, err)
			}
		}
	}
	write("databse: x\n")
	if _, err = ReadSettings(file); err == nil || !strings.Contains(err.Error(), "databse: no such setting; did you mean database?") {
		t.Error(err)
	}
	write("listen: 7\n")
	t.Setenv("HALFPOINT_LISTEN", "")
	if _, err = ReadSettings(file); err == nil || !strings.Contains(err.Error(), `listen: "7" is not an address`) {
		t.Error(err)
	}
}

// Ports that do not exist and owner tokens that could be guessed are refused.
func TestBadSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	for text, says := range map[string]string{
		"listen: 127.0.0.1:99999\n":                             `listen: "127.0.0.1:99999" is not an address`,
		"listen: 127.0.0.1:-1\n":                                `listen: "127.0.0.1:-1" is not an address`,
		"metrics: 127.0.0.1:65536\n":                            `metrics: "127.0.0.1:65536" is not an address`,
		"discord:\n  token: x\n  listen: 127.0.0.1:100000\n":    `discord.listen: "127.0.0.1:100000" is not an address`,
		"owner_token: 123456789012345\n":                        "owner_token: is too short",
		"owner_token: 1234567890123456\nlisten: '[::1]:http'\n": "",
		"listen: 127.0.0.1:65535\n":                             "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadSettings(file)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "123456789012345") {
			t.Errorf("%q shows the token", err)
		}
	}
}

// Discord's settings stand under one name; the environment wins.
func TestDiscordSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("discord:\n  token: a.b.c\n  public_key: cafe\n  guild: \"123456789012345678\"\n  shards: 4\n")
	t.Setenv("HALFPOINT_DISCORD_PUBLIC_KEY", "beef")
	t.Setenv("HALFPOINT_DISCORD_COUNT", "2")
	s, err := ReadSettings(file)
	want := Discord{Token: NewSecret("a.b.c"), PublicKey: "beef", Guild: "123456789012345678", Shards: 4, Count: 2}
	if err != nil || s.Discord != want {
		t.Errorf("%+v %v", s.Discord, err)
	}
	for text, says := range map[string]string{
		"discord:\n  tokn: x\n":                    "discord.tokn: no such setting; did you mean discord.token?",
		"discord:\n  token: x\n  guild: Go club\n": "discord.guild: must be an id",
		"discord:\n  token: x\n  listen: 7\n":      `discord.listen: "7" is not an address`,
		"discord:\n  shards: many\n":               "discord.shards: must be a whole number",
	} {
		write(text)
		if _, err := ReadSettings(file); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
