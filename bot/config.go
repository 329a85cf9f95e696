package bot

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/secret"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Settings is the configuration: a YAML file, overridden by the environment,
// overridden by flags.
type Settings struct {
	Listen   string      // address of the local room, "127.0.0.1:8080"; port 0 takes a free one
	Hosts    []string    // names besides the loopback ones by which browsers may call the local room
	URL      string      // where people reach the local room and the pages of games, "https://go.example.org"; empty: nobody is told
	Owner    secret.Text // secret that makes somebody a moderator of the local room; empty: nobody is
	Database string      // path of a SQLite file, or "postgres://…", which may hold a password
	Lease    int         // of several processes on one database: seconds without a sign of this one until others take over
	Metrics  string      // address at which Prometheus may ask how the bot is; empty: none
	Rulesets []string    // files of custom rulesets
	Limits   Limits
	Discord  Discord
	Matrix   Matrix
	Former   []string // keys in the file that only older versions used: they have no effect

	from map[string]source // where each setting was given, by its key
}

// Limits bound what people may do. Requests are those of Discord and Matrix, in a
// minute; some more may come at once.
type Limits struct {
	Person  int // requests of each person, wherever they are
	Channel int // requests in one channel or room
	Games   match.Limits
}

// Discord configures the connection to Discord. Without a token it is off.
type Discord struct {
	Token       secret.Text // of the bot
	Application string      // id of the application; empty: the one of the token
	PublicKey   string      // of the application, for interactions over HTTP
	Guild       string      // the only server in which commands are registered; empty: all
	API         string      // address of the API; empty: Discord's
	Listen      string      // address for interactions over HTTP; empty: they come through the gateway
	Content     bool        // read messages, for turns typed in threads of games; only through the gateway
	Shards      int         // of the whole bot; 0: as many as Discord recommends
}

// Matrix configures the connection to Matrix. Without a homeserver it is off.
type Matrix struct {
	Homeserver  string      // its address, or the name of the server
	User        string      // "@halfpoint:example.org", or the part before the colon
	Password    secret.Text // of the account; without it and Token the account logs in through the browser
	Token       secret.Text // instead of the password; some things do not work with it
	RecoveryKey secret.Text // of the account's cross-signing; empty: made if there is none
	Allow       []string    // who may invite the bot: users, servers, rooms; empty: everybody
	Name        string      // of the account, as people see it; empty: Halfpoint, unless it has one
	Avatar      string      // file of its picture; empty: a board, unless it has one
	Unlimited   bool        // the homeserver takes as many messages as the bot sends
}

// Defaults are the settings without any configuration.
var Defaults = Settings{Listen: "127.0.0.1:8080", Database: "halfpoint.db", Lease: 20, Limits: Limits{Person: 60, Channel: 120, Games: match.DefaultLimits}}

// table returns a pointer to each setting, by its key. No other key is known.
func (s *Settings) table() map[string]any {
	d, m, l := &s.Discord, &s.Matrix, &s.Limits
	return map[string]any{
		"listen": &s.Listen, "hosts": &s.Hosts, "public_url": &s.URL, "owner_token": &s.Owner, "database": &s.Database, "lease": &s.Lease, "metrics": &s.Metrics, "rulesets": &s.Rulesets,
		"limits.person": &l.Person, "limits.channel": &l.Channel, "limits.games_person": &l.Games.Person, "limits.games_channel": &l.Games.Channel,
		"discord.token": &d.Token, "discord.application": &d.Application, "discord.public_key": &d.PublicKey, "discord.guild": &d.Guild,
		"discord.api": &d.API, "discord.listen": &d.Listen, "discord.message_content": &d.Content, "discord.shards": &d.Shards,
		"matrix.homeserver": &m.Homeserver, "matrix.user": &m.User, "matrix.password": &m.Password, "matrix.token": &m.Token,
		"matrix.recovery_key": &m.RecoveryKey, "matrix.allow": &m.Allow, "matrix.name": &m.Name, "matrix.avatar": &m.Avatar, "matrix.unlimited": &m.Unlimited,
	}
}

// former are settings of older versions. They have no effect.
var former = []string{"matrix.describe", "matrix.owners", "discord.first", "discord.count"}

// A source is where a setting was given.
type source struct {
	file string // empty: not in a file
	line int    // in the file
	name string // of the environment variable or the flag
}

// reader collects what the configuration says and each mistake in it.
type reader struct {
	*Settings
	table    map[string]any // as table returns it
	keys     []string       // of table, sorted
	values   map[string][]string
	meant    []string // known keys that unknown keys probably mean
	mistakes BadSettings
}

// maxSettings is the largest size of a configuration, in bytes.
const maxSettings = 1 << 20

// ReadSettings reads a YAML file (path may be empty: none), the environment
// (HALFPOINT_ and the key in capitals, with "_" for ".") and flags, which holds values by
// key. An error is a [BadSettings] with every mistake, or a system error of the
// file.
func ReadSettings(path string, flags map[string]string) (Settings, error) {
	s := Defaults
	s.from = map[string]source{}
	table := s.table()
	r := &reader{Settings: &s, table: table, keys: slices.Sorted(maps.Keys(table)), values: map[string][]string{}}
	if path != "" {
		text, err := ReadFile(path, maxSettings)
		if err != nil {
			return s, err
		}
		if len(text) > maxSettings {
			return s, BadSettings{{File: path, Why: fmt.Sprintf("larger than %d KiB", maxSettings>>10)}}
		}
		r.file(path, text)
	}
	for _, key := range r.keys {
		name := "HALFPOINT_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		s.from[key], r.values[key] = source{name: name}, []string{value}
		if _, list := table[key].(*[]string); list {
			r.values[key] = strings.Split(value, ",")
		}
	}
	for key, value := range flags {
		s.from[key], r.values[key] = source{name: "--" + key}, []string{value}
	}
	for _, key := range r.keys {
		if values, ok := r.values[key]; ok {
			r.set(key, values)
		}
	}
	r.check()
	if len(r.mistakes) > 0 {
		slices.SortStableFunc(r.mistakes, func(a, b *BadSetting) int { return cmp.Compare(a.Line, b.Line) })
		return s, r.mistakes
	}
	return s, nil
}

// syntax matches an error of the YAML parser.
var syntax = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// file reads the settings in a file.
func (r *reader) file(path string, text []byte) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		bad := &BadSetting{File: path, Why: strings.Join(strings.Fields(err.Error()), " ")}
		if m := syntax.FindStringSubmatch(bad.Why); m != nil {
			bad.Line, _ = strconv.Atoi(m[1])
			bad.Why = "not YAML: " + m[2]
		}
		r.mistakes = append(r.mistakes, bad)
		return
	}
	if len(doc.Content) == 0 {
		return // an empty file
	}
	r.group(path, "", doc.Content[0])
}

// group reads the settings in a group, the whole file if its name is empty.
func (r *reader) group(path, group string, node *yaml.Node) {
	if node = resolved(node); node.Tag == "!!null" {
		return
	}
	if node.Kind != yaml.MappingNode {
		example := "listen: 127.0.0.1:8080"
		if group != "" {
			example = strings.TrimPrefix(r.keys[slices.IndexFunc(r.keys, func(key string) bool { return strings.HasPrefix(key, group+".") })], group+".") + ": …"
		}
		r.mistakes = append(r.mistakes, &BadSetting{path, node.Line, group, fmt.Sprintf("must hold settings, such as %q", example)})
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], resolved(node.Content[i+1])
		key := strings.TrimPrefix(group+"."+name.Value, ".")
		wrong := func(why string) { r.mistakes = append(r.mistakes, &BadSetting{path, name.Line, key, why}) }
		if first := lines[key]; first > 0 {
			wrong(fmt.Sprintf("already set on line %d", first))
			continue
		}
		lines[key] = name.Line
		isGroup := slices.ContainsFunc(r.keys, func(known string) bool { return strings.HasPrefix(known, key+".") })
		_, list := r.table[key].(*[]string)
		take := func(values ...string) { r.from[key], r.values[key] = source{file: path, line: name.Line}, values }
		switch {
		case slices.Contains(former, key):
			r.Former = append(r.Former, key)
		case isGroup:
			r.group(path, key, value)
		case r.table[key] == nil:
			why := "unknown key"
			if near := r.nearest(key); near != "" {
				why += "; did you mean " + near + "?"
				r.meant = append(r.meant, near)
			}
			wrong(why)
		case value.Tag == "!!null":
			take("")
		case list && value.Kind == yaml.SequenceNode && !slices.ContainsFunc(value.Content, func(n *yaml.Node) bool { return resolved(n).Kind != yaml.ScalarNode }):
			var items []string
			for _, item := range value.Content {
				items = append(items, resolved(item).Value)
			}
			take(items...)
		case list:
			wrong("must be a list, such as [a, b]")
		case value.Kind != yaml.ScalarNode:
			wrong("must be a single value")
		default:
			take(value.Value)
		}
	}
}

// resolved returns the node that an alias names.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// nearest returns the known key that an unknown one probably means: one with a
// similar spelling, or else one with the same name in another group.
func (r *reader) nearest(key string) string {
	best, at := "", max(3, len(key)/3)
	known := slices.Clone(r.keys)
	for _, k := range r.keys {
		if group, _, ok := strings.Cut(k, "."); ok && !slices.Contains(known, group) {
			known = append(known, group)
		}
	}
	for _, k := range known {
		if d := rules.Distance(key, k); d < at && d < len(k) {
			best, at = k, d
		}
	}
	if best != "" {
		return best
	}
	name := key[strings.LastIndexByte(key, '.')+1:]
	for _, k := range r.keys {
		if strings.HasSuffix(k, "."+name) || k == name {
			return k
		}
	}
	return ""
}

// set sets a setting.
func (r *reader) set(key string, values []string) {
	value := strings.TrimSpace(strings.Join(values, ","))
	switch to := r.table[key].(type) {
	case *string:
		*to = value
	case *secret.Text:
		*to = secret.New(value)
	case *[]string:
		*to = slices.DeleteFunc(values, func(s string) bool { return s == "" })
	case *int:
		least := 0
		if strings.HasPrefix(key, "limits.") {
			least = 1
		}
		n, err := strconv.Atoi(cmp.Or(value, strconv.Itoa(*to)))
		if err != nil || n < least {
			r.wrong(key, fmt.Sprintf("must be a whole number, %d or more", least))
			return
		}
		*to = n
	case *bool:
		switch strings.ToLower(value) {
		case "yes", "true":
			*to = true
		case "no", "false", "":
			*to = false
		default:
			r.wrong(key, "must be yes or no")
		}
	}
}

// wrong notes a mistake in a setting.
func (r *reader) wrong(key, why string) {
	r.mistakes = append(r.mistakes, r.at(key, why))
}

// at returns a mistake with the place where the setting was given.
func (s *Settings) at(key, why string) *BadSetting {
	from := s.from[key]
	if strings.HasPrefix(from.name, "--") {
		return &BadSetting{Key: from.name, Why: why}
	}
	return &BadSetting{cmp.Or(from.file, from.name), from.line, key, why}
}

// Mistake returns an error of the form "discord.token: rejected by Discord" as a
// [BadSetting] with the place where the setting was given, and other errors as they
// are.
func (s Settings) Mistake(err error) error {
	key, why, ok := strings.Cut(err.Error(), ": ")
	if _, known := s.table()[key]; !ok || !known {
		return err
	}
	if _, given := s.from[key]; key == "hosts" && !given { // its only name is that of the address
		return s.at("public_url", why)
	}
	return s.at(key, why)
}

// ownSettings may differ between the processes on one database.
var ownSettings = []string{"listen", "discord.listen", "metrics", "database", "lease", "rulesets"}

// Digests returns a digest of each setting that all processes on one database should share, by its
// key, and of the custom rulesets by "rulesets". Without the salt, which is random, nobody can try
// out what a digest is of.
func (s Settings) Digests(salt string, own []*rules.Ruleset) map[string]string {
	digest := func(value any) string {
		h := hmac.New(sha256.New, []byte(salt))
		fmt.Fprintf(h, "%#v", value)
		return hex.EncodeToString(h.Sum(nil)[:8])
	}
	digests := map[string]string{}
	for key, setting := range s.table() {
		if slices.Contains(ownSettings, key) {
			continue
		}
		value := reflect.ValueOf(setting).Elem().Interface()
		if text, ok := value.(secret.Text); ok {
			value = text.Reveal()
		}
		digests[key] = digest(value)
	}
	var ids []string
	for _, r := range own {
		ids = append(ids, r.ID())
	}
	slices.Sort(ids)
	digests["rulesets"] = digest(ids)
	return digests
}

// check notes settings with values that cannot be used.
func (r *reader) check() {
	address := func(key, value, example string) {
		if !isAddress(value) {
			r.wrong(key, fmt.Sprintf("%q is not an address such as %s", value, example))
		}
	}
	// missing notes a setting that another one needs, unless it is only misspelled.
	missing := func(key, needed string) {
		if !slices.Contains(r.meant, key) {
			bad := r.at(needed, "missing")
			bad.Key = key
			r.mistakes = append(r.mistakes, bad)
		}
	}
	address("listen", r.Listen, "127.0.0.1:8080")
	r.publicURL()
	if n := len(r.Owner.Reveal()); n > 0 && n < minOwner {
		r.wrong("owner_token", fmt.Sprintf("too short; use at least %d characters", minOwner))
	}
	if r.Metrics != "" {
		address("metrics", r.Metrics, "127.0.0.1:9180")
	}
	if r.Database == "" {
		r.wrong("database", "must not be empty")
	}
	if r.Lease < 2 || r.Lease > 600 {
		r.wrong("lease", "must be from 2 to 600 seconds")
	}
	if m := r.Matrix; m.Homeserver != "" && m.User == "" && m.Token.IsZero() {
		missing("matrix.user", "matrix.homeserver")
	}
	if r.Discord.Token.IsZero() {
		return
	}
	for _, key := range []string{"discord.application", "discord.guild"} {
		if id := *r.table[key].(*string); strings.Trim(id, "0123456789") != "" {
			r.wrong(key, "must be an id, a number of 17 digits or more")
		}
	}
	if d := r.Discord; d.Listen != "" {
		address("discord.listen", d.Listen, "127.0.0.1:8081")
		if d.PublicKey == "" {
			missing("discord.public_key", "discord.listen")
		}
		if d.Content {
			r.wrong("discord.message_content", "messages come through the gateway alone: leave discord.listen empty, or set this to no")
		}
	}
}

// publicURL checks the address at which people reach the local room. The room answers to
// its name, too.
func (r *reader) publicURL() {
	if r.URL == "" {
		return
	}
	r.URL = strings.TrimSuffix(r.URL, "/")
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || r.URL != u.Scheme+"://"+u.Host {
		r.wrong("public_url", fmt.Sprintf("%q is not an address such as https://go.example.org, without a path", r.URL))
		return
	}
	ip, err := netip.ParseAddr(u.Hostname())
	own := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	if !own && !slices.Contains(r.Hosts, u.Hostname()) {
		r.Hosts = append(slices.Clip(r.Hosts), u.Hostname())
	}
}

// minOwner is the least length of an owner token, in bytes. Wrong guesses are not
// counted, so a token must be too long to guess.
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

// A BadSetting is a mistake in the configuration.
type BadSetting struct {
	File string // or environment variable; may be empty
	Line int    // in File; 0: unknown
	Key  string // of the setting, or the flag that gave it; may be empty
	Why  string
}

// Error returns "config.yaml:12: discord.tokn: unknown key".
func (e *BadSetting) Error() string {
	file := e.File
	if e.Line > 0 {
		file += ":" + strconv.Itoa(e.Line)
	}
	parts := slices.DeleteFunc([]string{file, e.Key, e.Why}, func(s string) bool { return s == "" })
	return strings.Join(parts, ": ")
}

// BadSettings are the mistakes in a configuration, in the order of its lines.
type BadSettings []*BadSetting

// Error returns one line for each mistake.
func (all BadSettings) Error() string {
	lines := make([]string, len(all))
	for i, e := range all {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns each mistake.
func (all BadSettings) Unwrap() []error {
	errs := make([]error, len(all))
	for i, e := range all {
		errs[i] = e
	}
	return errs
}
