package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parses returns an error if the program does not understand its arguments.
func parses(args []string) error {
	parser, err := newParser(&cli{}, io.Discard, io.Discard)
	if err != nil {
		return err
	}
	_, err = parse(parser, args)
	return err
}

// A unit is what a file of systemd's says: the values of the keys of its sections.
func unit(t *testing.T, name string) map[string]map[string][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	sections, section := map[string]map[string][]string{}, ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
			sections[section] = map[string][]string{}
		case !ok || section == "":
			t.Errorf("%s: %q is no setting", name, line)
		default:
			sections[section][key] = append(sections[section][key], value)
		}
	}
	return sections
}

// The units run commands that the program has; the backup is made as the user of the
// bot, with its configuration, from the folder of its games.
func TestUnits(t *testing.T) {
	bot, backup := unit(t, "halfpoint.service")["Service"], unit(t, "halfpoint-backup.service")["Service"]
	for name, service := range map[string]map[string][]string{"halfpoint.service": bot, "halfpoint-backup.service": backup} {
		args := strings.Fields(strings.Join(service["ExecStart"], " "))
		if len(args) == 0 || args[0] != "/usr/local/bin/halfpoint" {
			t.Fatalf("%s starts %q", name, args)
		}
		if err := parses(args[1:]); err != nil {
			t.Errorf("%s: %q: %v", name, args, err)
		}
	}
	for _, key := range []string{"LoadCredential", "EnvironmentFile", "DynamicUser", "User", "WorkingDirectory", "StateDirectoryMode", "UMask", "ProtectSystem"} {
		if ours, its := strings.Join(backup[key], " "), strings.Join(bot[key], " "); ours != its || ours == "" {
			t.Errorf("%s: %q in the backup, %q in the bot", key, ours, its)
		}
	}
	if timer := unit(t, "halfpoint-backup.timer"); len(timer["Timer"]["OnCalendar"]) != 1 || len(timer["Install"]["WantedBy"]) != 1 {
		t.Errorf("the timer has %v", timer)
	}
}

// The program understands each command of its own that a page shows in an indented line.
func TestCommandsInDocuments(t *testing.T) {
	commands := 0
	for path, doc := range handWritten(t) {
		for line := range strings.Lines(doc) {
			line, ok := strings.CutPrefix(line, "    ")
			if !ok || strings.HasPrefix(line, "halfpoint: ") {
				continue
			}
			line, _, _ = strings.Cut(line, "#")
			words := strings.Fields(line)
			for len(words) > 0 && (words[0] == "sudo" || words[0] == "-u" || words[0] == "halfpoint" && len(words) > 1 && words[1] == "halfpoint") {
				words = words[1:]
			}
			if len(words) == 0 || words[0] != "halfpoint" {
				continue
			}
			commands++
			if err := parses(words[1:]); err != nil && !strings.ContainsAny(line, "|<>") {
				t.Errorf("%s: %s: %v", path, strings.TrimSpace(line), err)
			}
		}
	}
	if commands < 7 {
		t.Errorf("found only %d commands", commands)
	}
}
