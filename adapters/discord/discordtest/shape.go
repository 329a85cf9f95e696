package discordtest

import (
	"bytes"
	"image"
	_ "image/gif" // to know their sizes
	_ "image/jpeg"
	_ "image/png"
	"mime"
	"net/url"
	"path"
	"regexp"
)

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func (s *Server) store(m *message, f upload, listed []any) *attachment {
	a := &attachment{id: s.newID(), name: unsafeName.ReplaceAllString(path.Base(f.name), "_"), data: f.data}
	for _, l := range listed {
		if l := l.(object); text(l["id"]) == f.field {
			a.description = text(l["description"])
			if name := text(l["filename"]); name != "" {
				a.name = unsafeName.ReplaceAllString(name, "_")
			}
		}
	}
	a.kind = mime.TypeByExtension(path.Ext(a.name))
	if a.kind == "" {
		a.kind = "application/octet-stream"
	}
	if config, _, err := image.DecodeConfig(bytes.NewReader(f.data)); err == nil {
		a.width, a.height = config.Width, config.Height
	}
	a.path = "/attachments/" + m.channel.id + "/" + a.id + "/" + url.PathEscape(a.name)
	return a
}

// shape is a component as Discord gives it back: with an id, and defaults filled
// in.
func shape(part object, n *int) object {
	out := withoutNulls(part).(object)
	if id := number(out["id"]); id <= 0 {
		*n++
		out["id"] = *n
	}
	if number(part["type"]) == partSelect {
		for _, key := range []string{"min_values", "max_values"} {
			if out[key] == nil {
				out[key] = 1
			}
		}
		delete(out, "required")
	}
	if list := asList(part["components"]); list != nil {
		inner := []any{}
		for _, p := range list {
			inner = append(inner, shape(p.(object), n))
		}
		out["components"] = inner
	}
	return out
}
