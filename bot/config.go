package bot

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
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
	Former   []string // keys in the file that only older versions knew: they change nothing
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
}

// Defaults is what holds when nothing is said.
var Defaults = Settings{Listen: "127.0.0.1:8080", Database: "halfpoint.db", Limits: Limits{Person: 60, Channel: 120, Games: DefaultGameLimits}}

// table gives where each setting goes, by its key: all that a configuration may
// hold.
func (s *Settings) table() map[string]any {
	d, m, l := &s.Discord, &s.Matrix, &s.Limits
	return map[string]any{
		"listen": &s.Listen, "hosts": &s.Hosts, "owner_token": &s.Owner, "database": &s.Database, "metrics": &s.Metrics, "rulesets": &s.Rulesets,
		"limits.person": &l.Person, "limits.channel": &l.Channel, "limits.games_person": &l.Games.Person, "limits.games_channel": &l.Games.Channel,
		"discord.token": &d.Token, "discord.application": &d.Application, "discord.public_key": &d.PublicKey, "discord.guild": &d.Guild,
		"discord.api": &d.API, "discord.listen": &d.Listen, "discord.shards": &d.Shards, "discord.first": &d.First, "discord.count": &d.Count,
		"matrix.homeserver": &m.Homeserver, "matrix.user": &m.User, "matrix.password": &m.Password, "matrix.token": &m.Token,
		"matrix.recovery_key": &m.RecoveryKey, "matrix.allow": &m.Allow,
	}
}

// former are settings of older versions. They change nothing.
var former = []string{"matrix.describe"}

// ReadSettings reads the file, which may be empty for none, and the
// environment: HALFPOINT_ and the key in capitals, "." written "_". Its errors
// name the file and the key.
func ReadSettings(path string) (Settings, error) {
	s := Defaults
	table := s.table()
	keys := slices.Sorted(maps.Keys(table))
	k := koanf.New(".")
	if path != "" {
		if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
				return s, err
			}
			return s, &BadSetting{path, "", strings.Join(strings.Fields(err.Error()), " ")}
		}
		for _, key := range k.Keys() {
			if slices.Contains(former, key) {
				s.Former = append(s.Former, key)
			} else if table[key] == nil {
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
		if _, list := table[key].(*[]string); list {
			return key, strings.Split(value, ",")
		}
		return key, value
	}}), nil)
	if err != nil {
		return s, err
	}
	for _, key := range keys {
		if !k.Exists(key) {
			continue
		}
		value := strings.TrimSpace(k.String(key))
		switch to := table[key].(type) {
		case *string:
			*to = value
		case *Secret:
			*to = NewSecret(value)
		case *[]string:
			*to = k.Strings(key)
		case *int:
			least := 0
			if strings.HasPrefix(key, "limits.") {
				least = 1
			}
			if *to, err = strconv.Atoi(cmp.Or(value, strconv.Itoa(*to))); err != nil || *to < least {
				return s, &BadSetting{path, key, fmt.Sprintf("must be a whole number, %d or more", least)}
			}
		}
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
