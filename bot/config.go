package bot

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
)

// Settings is what the program is told by its configuration: a YAML file, over
// it the environment, over that the flags.
type Settings struct {
	Listen   string   // address of the local room, "127.0.0.1:8080"; port 0 takes a free one
	Hosts    []string // names besides the loopback ones by which browsers may call the local room
	Database string   // path of the SQLite file
}

// Defaults is what holds when nothing is said.
var Defaults = Settings{Listen: "127.0.0.1:8080", Database: "halfpoint.db"}

// keys are all that a configuration may hold.
var keys = []string{"listen", "hosts", "database"}

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
				if near := nearest(key, keys); near != "" {
					hint = "; did you mean " + near + "?"
				}
				return s, &BadSetting{path, key, "no such setting" + hint}
			}
		}
	}
	err := k.Load(env.Provider(".", env.Opt{Prefix: "HALFPOINT_", TransformFunc: func(name, value string) (string, any) {
		key := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "HALFPOINT_")), "_", ".")
		if !slices.Contains(keys, key) || value == "" {
			return "", nil // HALFPOINT_RECORDS and what later versions may know
		}
		if key == "hosts" {
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
	s.Hosts = k.Strings("hosts")
	return s, s.Check(path)
}

// Check says which setting cannot be.
func (s Settings) Check(path string) error {
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		return &BadSetting{path, "listen", fmt.Sprintf("%q is not an address such as 127.0.0.1:8080", s.Listen)}
	}
	if s.Database == "" {
		return &BadSetting{path, "database", "the path is empty"}
	}
	return nil
}

// A BadSetting is a configuration that cannot be used as it is.
type BadSetting struct{ File, Key, Why string }

// Error names the file and the key.
func (e *BadSetting) Error() string {
	parts := slices.DeleteFunc([]string{e.File, e.Key, e.Why}, func(s string) bool { return s == "" })
	return strings.Join(parts, ": ")
}
