package bot

import (
	"fmt"
	"io"
	"log/slog"
	"unique"
)

// A Secret is a text that must not be shown: a password, a token, a key. However
// it is printed, logged or marshalled, alone or within something else, it reads
// "[secret]", or nothing if it is empty. Only [Secret.Reveal] returns the text.
//
// Two Secrets are equal (==) if their texts are. The zero value is empty.
type Secret struct {
	// fmt and reflection can look into unexported fields, where no method of ours
	// is called. They find a pointer here and no text.
	text unique.Handle[string]
}

// NewSecret returns a Secret that holds text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{unique.Make(text)}
}

// Reveal returns the text.
func (s Secret) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return s.text.Value()
}

// IsZero reports whether the Secret is empty.
func (s Secret) IsZero() bool { return s == Secret{} }

// String returns "[secret]", or "" if the Secret is empty.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return "[secret]"
}

// Format prints what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) } //nolint:errcheck // fmt has no use for it

// MarshalText returns what String returns. JSON, YAML and others use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue logs what String returns.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
