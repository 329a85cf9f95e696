package bot

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"

	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Settings is what the program is told by its configuration: a YAML file, over
// it the environment, over that the flags.
type Settings struct {
	Listen   string   // address of the local room, "127.0.0.1:8080"; port 0 takes a free one
	Hosts    []string // names besides the loopback ones by which browsers may call the local room
	Owner    Secret   // secret that makes somebody a moderator of the local room; empty: nobody is
	Database string   // path of the SQLite file
	Metrics  string   // address at which Prometheus may ask how the bot is; empty: none
	Rulesets []string // files of custom rulesets
	Limits   Limits
	Discord  Discord
	Matrix   Matrix
}

// Limits bound what people may do. Requests are those of Discord and Matrix, in a
// minute; some more may come at once.
type Limits struct {
	Person  int // requests of each person, wherever they are
	Channel int // requests in one channel or room
	Games   GameLimits
}

// Discord is how the bot gets to Discord. Without a token it does not.
type Discord struct {
	Token       Secret // of the bot
	Application string // id of the application; empty: the one of the token
	PublicKey   string // of the application, for interactions over HTTP
	Guild       string // the only server in which commands are registered; empty: all
	API         string // address of the API; empty: Discord's
	Listen      string // address for interactions over HTTP; empty: they come through the gateway
	Shards      int    // of the whole bot; 0: as many as Discord recommends
	First       int    // the first shard of this process
	Count       int    // how many shards this process runs; 0: all from First
}

// Matrix is how the bot gets to Matrix. Without a homeserver it does not.
type Matrix struct {
	Homeserver  string   // its address, or the name of the server
	User        string   // "@halfpoint:example.org", or the part before the colon
	Password    Secret   // of the account
	Token       Secret   // instead of the password, with less that works
	RecoveryKey Secret   // of the account's cross-signing; empty: made at the first start
	Allow       []string // who may invite the bot: users, servers, rooms; empty: everybody
	Describe    bool     // describe the commands in rooms where the bot may (MSC4391)
}

// Defaults is what holds when nothing is said.
var Defaults = Settings{Listen: "127.0.0.1:8080", Database: "halfpoint.db", Limits: Limits{Person: 60, Channel: 120, Games: DefaultGameLimits}}

// keys are all that a configuration may hold.
var keys = []string{"listen", "hosts", "owner_token", "database", "metrics", "rulesets",
	"limits.person", "limits.channel", "limits.games_person", "limits.games_channel",
	"discord.token", "discord.application", "discord.public_key", "discord.guild", "discord.api", "discord.listen",
	"discord.shards", "discord.first", "discord.count",
	"matrix.homeserver", "matrix.user", "matrix.password", "matrix.token", "matrix.recovery_key", "matrix.allow", "matrix.describe"}

// ReadSettings reads the file, which may be empty for none, and the
// environment: HALFPOINT_ and the key in capitals, "." written "_". Its errors
// name the file and the key.
func ReadSettings(path string) (Settings, error) {
	s := Defaults
	k := koanf.New(".")
	if path != "" {
		if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
				return s, err
			}
			return s, &BadSetting{path, "", strings.Join(strings.Fields(err.Error()), " ")}
		}
		for _, key := range k.Keys() {
			if !slices.Contains(keys, key) {
				hint := ""
				if near := text.Nearest(key, keys); near != "" {
					hint = "; did you mean " + near + "?"
				}
				return s, &BadSetting{path, key, "no such setting" + hint}
			}
		}
	}
	err := k.Load(env.Provider(".", env.Opt{Prefix: "HALFPOINT_", TransformFunc: func(name, value string) (string, any) {
		i := slices.IndexFunc(keys, func(key string) bool {
			return name == "HALFPOINT_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		})
		if i < 0 || value == "" {
			return "", nil // HALFPOINT_RECORDS and what later versions may know
		}
		key := keys[i]
		if key == "hosts" || key == "rulesets" || key == "matrix.allow" {
			return key, strings.Split(value, ",")
		}
		return key, value
	}}), nil)
	if err != nil {
		return s, err
	}
	if k.Exists("listen") {
		s.Listen = k.String("listen")
	}
	if k.Exists("database") {
		s.Database = k.String("database")
	}
	s.Metrics = strings.TrimSpace(k.String("metrics"))
	s.Hosts = k.Strings("hosts")
	s.Rulesets = k.Strings("rulesets")
	for key, to := range map[string]*string{
		"application": &s.Discord.Application, "public_key": &s.Discord.PublicKey,
		"guild": &s.Discord.Guild, "api": &s.Discord.API, "listen": &s.Discord.Listen,
	} {
		*to = strings.TrimSpace(k.String("discord." + key))
	}
	for key, to := range map[string]*string{
		"homeserver": &s.Matrix.Homeserver, "user": &s.Matrix.User,
	} {
		*to = strings.TrimSpace(k.String("matrix." + key))
	}
	for key, to := range map[string]*Secret{
		"owner_token": &s.Owner, "discord.token": &s.Discord.Token,
		"matrix.password": &s.Matrix.Password, "matrix.token": &s.Matrix.Token, "matrix.recovery_key": &s.Matrix.RecoveryKey,
	} {
		*to = NewSecret(strings.TrimSpace(k.String(key)))
	}
	s.Matrix.Allow = k.Strings("matrix.allow")
	switch describe := k.String("matrix.describe"); describe {
	case "", "false", "true":
		s.Matrix.Describe = describe == "true"
	default:
		return s, &BadSetting{path, "matrix.describe", "must be true or false"}
	}
	for key, to := range map[string]*int{"shards": &s.Discord.Shards, "first": &s.Discord.First, "count": &s.Discord.Count} {
		n, err := strconv.Atoi(cmp.Or(k.String("discord."+key), "0"))
		if err != nil || n < 0 {
			return s, &BadSetting{path, "discord." + key, "must be a whole number, 0 or more"}
		}
		*to = n
	}
	for key, to := range map[string]*int{
		"limits.person": &s.Limits.Person, "limits.channel": &s.Limits.Channel,
		"limits.games_person": &s.Limits.Games.Person, "limits.games_channel": &s.Limits.Games.Channel,
	} {
		n, err := strconv.Atoi(cmp.Or(k.String(key), strconv.Itoa(*to)))
		if err != nil || n < 1 {
			return s, &BadSetting{path, key, "must be a whole number, 1 or more"}
		}
		*to = n
	}
	return s, s.Check(path)
}

// Check says which setting cannot be.
func (s Settings) Check(path string) error {
	if !isAddress(s.Listen) {
		return &BadSetting{path, "listen", fmt.Sprintf("%q is not an address such as 127.0.0.1:8080", s.Listen)}
	}
	if n := len(s.Owner.Reveal()); n > 0 && n < minOwner {
		return &BadSetting{path, "owner_token", fmt.Sprintf("is too short: at least %d characters", minOwner)}
	}
	if s.Metrics != "" && !isAddress(s.Metrics) {
		return &BadSetting{path, "metrics", fmt.Sprintf("%q is not an address such as 127.0.0.1:9090", s.Metrics)}
	}
	if s.Database == "" {
		return &BadSetting{path, "database", "the path is empty"}
	}
	if s.Matrix.Homeserver != "" && s.Matrix.Password.IsZero() && s.Matrix.Token.IsZero() {
		return &BadSetting{path, "matrix.password", "is missing"}
	}
	if s.Discord.Token.IsZero() {
		return nil
	}
	for key, id := range map[string]string{"application": s.Discord.Application, "guild": s.Discord.Guild} {
		if strings.Trim(id, "0123456789") != "" {
			return &BadSetting{path, "discord." + key, "must be an id, a number of 17 digits or more, in quotes"}
		}
	}
	if s.Discord.Listen != "" && !isAddress(s.Discord.Listen) {
		return &BadSetting{path, "discord.listen", fmt.Sprintf("%q is not an address such as 127.0.0.1:8081", s.Discord.Listen)}
	}
	return nil
}

// minOwner is the least length of an owner token, in bytes: nobody counts wrong
// guesses, so it must be too long to be guessed.
const minOwner = 16

// isAddress reports whether a string is a host, which may be empty, and a port.
func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = net.LookupPort("tcp", port)
	return err == nil
}

// A BadSetting is a configuration that cannot be used as it is.
type BadSetting struct{ File, Key, Why string }

// Error names the file and the key.
func (e *BadSetting) Error() string {
	parts := slices.DeleteFunc([]string{e.File, e.Key, e.Why}, func(s string) bool { return s == "" })
	return strings.Join(parts, ": ")
}
