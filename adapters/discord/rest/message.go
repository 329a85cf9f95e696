package rest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"strconv"
)

// Flags of messages.
const (
	SuppressEmbeds        = 1 << 2
	Ephemeral             = 1 << 6 // seen by one person; for answers to interactions
	SuppressNotifications = 1 << 12
)

// Sizes that Discord allows.
const (
	RequestLimit = 25 << 20 // bytes a request
	NonceLimit   = 25       // characters
	AltLimit     = 1024     // characters
)

// A Message is the content of a new message or of an edit. Nil fields are not sent.
type Message struct {
	Content         *string         `json:"content,omitempty"`
	AllowedMentions AllowedMentions `json:"allowed_mentions"`
	Components      []Component     `json:"components,omitzero"`
	Flags           int             `json:"flags,omitempty"`
	Nonce           string          `json:"nonce,omitempty"`         // for Send alone: the same nonce is sent once; see [Nonce]
	EnforceNonce    bool            `json:"enforce_nonce,omitempty"` // set by Send
	Attachments     []Attachment    `json:"attachments,omitzero"`    // those to keep, in an edit; Files add themselves
	Answers         *Reference      `json:"message_reference,omitempty"`

	Files []File `json:"-"`
}

// A Reference names the message that a new one answers. Its author is not notified.
type Reference struct {
	Channel string `json:"channel_id,omitempty"` // of what Discord says; the thread that a message says was started
	Message string `json:"message_id"`
	Must    bool   `json:"fail_if_not_exists"` // else the new one is sent although the other is gone
}

// A File is sent with a message.
type File struct {
	Name string
	Alt  string // what a screen reader reads; cut to AltLimit
	Type string // MIME type; empty: of the name's ending
	Data []byte
}

// AllowedMentions are those who are pinged: nobody but these.
type AllowedMentions struct{ Users []string }

// MarshalJSON always names a list, since a missing one pings everybody.
func (a AllowedMentions) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Parse []string `json:"parse"`
		Users []string `json:"users,omitempty"`
	}{[]string{}, a.Users})
}

// An Attachment names a file of a message.
type Attachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename,omitempty"`
	Description string `json:"description,omitempty"`
}

// Types of components.
const (
	ActionRow    = 1
	Button       = 2
	StringSelect = 3
	TextInput    = 4
	Label        = 18
)

// Styles of buttons and text inputs.
const (
	Primary   = 1
	Secondary = 2
	Success   = 3
	Danger    = 4
	Link      = 5 // a button with a URL and without a CustomID

	Short     = 1
	Paragraph = 2
)

// A Component is part of a message or of a modal; which fields mean something
// depends on Type.
type Component struct {
	Type        int            `json:"type"`
	CustomID    string         `json:"custom_id,omitempty"`
	Style       int            `json:"style,omitempty"`
	URL         string         `json:"url,omitempty"` // of a Link
	Label       string         `json:"label,omitempty"`
	Placeholder string         `json:"placeholder,omitempty"`
	Value       string         `json:"value,omitempty"` // that a TextInput begins with
	Options     []SelectOption `json:"options,omitempty"`
	MinValues   *int           `json:"min_values,omitempty"`
	MaxValues   int            `json:"max_values,omitempty"`
	MinLength   int            `json:"min_length,omitempty"`
	MaxLength   int            `json:"max_length,omitempty"`
	Required    *bool          `json:"required,omitempty"`
	Components  []Component    `json:"components,omitempty"`
	Description string         `json:"description,omitempty"`
	Component   *Component     `json:"component,omitempty"` // of a Label
}

// Row puts components side by side.
func Row(cs ...Component) Component { return Component{Type: ActionRow, Components: cs} }

// A SelectOption is something that can be chosen in a StringSelect.
type SelectOption struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description,omitempty"`
	Default     bool   `json:"default,omitempty"`
}

// Nonce makes of a delivery's key what Discord takes as a nonce: 25 characters,
// the same for the same key.
func Nonce(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:NonceLimit]
}

// withFiles adds the files to the attachments. Discord tells the two apart by
// their ids: those of files are their places.
func (m Message) withFiles() Message {
	if len(m.Files) == 0 {
		return m
	}
	list := append([]Attachment{}, m.Attachments...)
	for i, f := range m.Files {
		list = append(list, Attachment{ID: strconv.Itoa(i), Filename: f.Name, Description: Clip(f.Alt, AltLimit)})
	}
	m.Attachments = list
	return m
}

// Clip shortens a text to n characters.
func Clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

var errTooLarge = errors.New("larger than Discord accepts")

// encode makes the body of a request and its Content-Type.
func encode(in any, files []File) ([]byte, string, error) {
	if in == nil {
		return nil, "", nil
	}
	payload, err := json.Marshal(in)
	if err != nil {
		return nil, "", err
	}
	if len(files) == 0 {
		return payload, "application/json", nil
	}
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part(&body, w, `form-data; name="payload_json"`, "application/json", payload)
	for i, f := range files {
		kind := cmp.Or(f.Type, "application/octet-stream")
		part(&body, w, multipart.FileContentDisposition(fmt.Sprintf("files[%d]", i), f.Name), kind, f.Data)
	}
	w.Close()
	if body.Len() > RequestLimit {
		return nil, "", errTooLarge
	}
	return body.Bytes(), w.FormDataContentType(), nil
}

// part adds one part; nothing can fail in a buffer.
func part(body *bytes.Buffer, w *multipart.Writer, disposition, kind string, data []byte) {
	body.Grow(len(data) + 512)
	p, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {disposition}, "Content-Type": {kind}})
	if err == nil {
		p.Write(data) //nolint:errcheck // a buffer
	}
}
