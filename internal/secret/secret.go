// Package secret holds texts that must not be shown.
package secret

import (
	"fmt"
	"io"
	"log/slog"
	"unique"
)

// A Text is a text that must not be shown: a password, a token, a key. However
// it is printed, logged or marshalled, alone or within something else, it reads
// "[secret]", or nothing if it is empty. Only [Text.Reveal] returns the text.
//
// Two Texts are equal (==) if their texts are. The zero value is empty.
type Text struct {
	// fmt and reflection can look into unexported fields, where no method of ours
	// is called. They find a pointer here and no text.
	text unique.Handle[string]
}

// New returns a Text that holds text.
func New(text string) Text {
	if text == "" {
		return Text{}
	}
	return Text{unique.Make(text)}
}

// Reveal returns the text.
func (s Text) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return s.text.Value()
}

// IsZero reports whether the Text is empty.
func (s Text) IsZero() bool { return s == Text{} }

// String returns "[secret]", or "" if the Text is empty.
func (s Text) String() string {
	if s.IsZero() {
		return ""
	}
	return "[secret]"
}

// Format prints what String returns, whatever the verb.
func (s Text) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) } //nolint:errcheck // fmt has no use for it

// MarshalText returns what String returns. JSON, YAML and others use it.
func (s Text) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue logs what String returns.
func (s Text) LogValue() slog.Value { return slog.StringValue(s.String()) }
