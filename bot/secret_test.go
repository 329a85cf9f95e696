package bot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// secretKeys are the settings that are secret, and what the tests put there.
var secretKeys = map[string]string{
	"owner_token": "canary-owner-token-0", "discord.token": "canary.discord.token", "matrix.password": "canary-password",
	"matrix.token": "canary-access-token", "matrix.recovery_key": "EsTc canary key",
}

// prints returns v in all ways in which a program prints or marshals.
func prints(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, verb := range []string{"v", "+v", "#v", "s", "q", "#q", "x", "X", "+q", "d", "t", "e", "T", "p", "40v", "U", "c"} {
		out["%"+verb] = fmt.Sprintf("%"+verb, v)
	}
	out["Sprint"], out["Sprintln"] = fmt.Sprint(v), fmt.Sprintln(v)
	out["error"] = fmt.Errorf("settings %v, %+v: %w", v, v, errors.New("bad")).Error()
	for name, marshal := range map[string]func(any) ([]byte, error){"json": json.Marshal, "yaml": yaml.Marshal} {
		text, err := marshal(v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = string(text)
	}
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var b bytes.Buffer
		slog.New(handler(&b)).With("with", v).Info("start", "settings", v, slog.Group("group", "pointer", &v), slog.Any("slice", []any{v}))
		out[name] = b.String()
	}
	return out
}

// shows reports where a text can be read in what prints returns, as it is or in
// one of the ways in which verbs write texts.
func shows(printed map[string]string, text string) (where []string) {
	for how, out := range printed {
		for _, written := range []string{text, fmt.Sprintf("%x", text), fmt.Sprintf("%X", text), fmt.Sprintf("% x", text), fmt.Sprint([]byte(text))} {
			if strings.Contains(out, written) {
				where = append(where, how)
			}
		}
	}
	return where
}

// However the settings are printed, logged or marshalled, no secret can be read.
func TestSettingsHideSecrets(t *testing.T) {
	for key, secret := range secretKeys {
		t.Setenv("HALFPOINT_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_")), secret)
	}
	s, err := settingsIn(t, "hosts: [public.example]\n")
	if err != nil {
		t.Fatal(err)
	}
	hidden := struct { // fmt calls no methods on fields that are not exported
		settings Settings
		pointer  *Settings
		Public   map[string]Settings
	}{s, &s, map[string]Settings{"one": s}}
	for name, v := range map[string]any{"settings": s, "a pointer": &s, "nested": hidden, "a pointer to nested": &hidden} {
		printed := prints(t, v)
		if got := shows(printed, "public.example"); len(got) < 8 {
			t.Errorf("%s: what is no secret is shown only by %v: the test would not notice a secret", name, got)
		}
		for key, secret := range secretKeys {
			if got := shows(printed, secret); len(got) > 0 {
				t.Errorf("%s: %s is shown by %v", name, key, got)
			}
		}
	}
	for key, got := range map[string]secret.Text{"owner_token": s.Owner, "discord.token": s.Discord.Token, "matrix.password": s.Matrix.Password,
		"matrix.token": s.Matrix.Token, "matrix.recovery_key": s.Matrix.RecoveryKey} {
		if got.Reveal() != secretKeys[key] {
			t.Errorf("%s is %q", key, got.Reveal())
		}
	}
}

// Every setting whose name says that it is secret is a Secret.
func TestSecretSettingsAreSecrets(t *testing.T) {
	for key := range new(Settings).table() {
		name := key[strings.LastIndex(key, ".")+1:]
		if strings.Contains(name, "token") || strings.Contains(name, "password") || strings.Contains(name, "secret") || name == "recovery_key" {
			if secretKeys[key] == "" {
				t.Errorf("%s is not among the secrets that TestSettingsHideSecrets looks for", key)
			}
		}
	}
	var look func(reflect.Type)
	look = func(of reflect.Type) {
		for i := range of.NumField() {
			f := of.Field(i)
			if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[secret.Text]() {
				look(f.Type)
			}
			if n := strings.ToLower(f.Name); f.Type.Kind() == reflect.String && (strings.Contains(n, "token") || strings.Contains(n, "password") || strings.Contains(n, "recovery")) {
				t.Errorf("%s.%s is a plain string", of, f.Name)
			}
		}
	}
	look(reflect.TypeFor[Settings]())
}

func TestSecret(t *testing.T) {
	a, b := secret.New("canary"), secret.New("canary")
	if a != b || a == secret.New("other") || a.IsZero() || a.Reveal() != "canary" {
		t.Error("a secret.Text should be equal to another of the same text, and give it")
	}
	if (secret.Text{}) != secret.New("") || !secret.New("").IsZero() || secret.New("").Reveal() != "" || secret.New("").String() != "" {
		t.Error("a secret.Text of an empty text should be the zero value")
	}
	for how, out := range prints(t, a) {
		if how != "%T" && how != "%p" && !strings.Contains(out, "[secret]") {
			t.Errorf("%s: %q", how, out)
		}
	}
	if got := shows(prints(t, a), "canary"); len(got) > 0 {
		t.Errorf("shown by %v", got)
	}
}
