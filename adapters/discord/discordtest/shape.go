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
	"strings"
)

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func (s *Server) store(m *message, f upload, listed []any) *attachment {
	a := &attachment{id: s.newID(), name: unsafeName.ReplaceAllString(path.Base(f.name), "_"), data: f.data, ephemeral: m.only != nil}
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

func shapeEmbed(e object) object {
	out := withoutNulls(e).(object)
	out["type"] = "rich"
	for _, f := range asList(out["fields"]) {
		if f := f.(object); f["inline"] == nil {
			f["inline"] = false
		}
	}
	return out
}

// shape is a component as Discord gives it back: with an id, defaults filled
// in, and addresses for what is shown.
func (s *Server) shape(part object, n *int, files []*attachment) object {
	out := object{}
	for key, v := range part {
		if v != nil {
			out[key] = v
		}
	}
	if id := number(out["id"]); id <= 0 {
		*n++
		out["id"] = *n
	}
	orElse := func(key string, v any) {
		if out[key] == nil {
			out[key] = v
		}
	}
	kind := number(part["type"])
	switch kind {
	case partSelect, partUserSelect, 6, 7, partChannels:
		orElse("min_values", 1)
		orElse("max_values", 1)
		delete(out, "required")
	case partGallery:
		items := []any{}
		for _, item := range asList(part["items"]) {
			items = append(items, s.shapeMedia(item.(object), files))
		}
		out["items"] = items
	case partThumbnail:
		for key, v := range s.shapeMedia(out, files) {
			out[key] = v
		}
	case partFile:
		orElse("spoiler", false)
		media, _ := part["file"].(object)
		found := s.media(media, files)
		out["file"] = found
		name, size := "file", 0
		for _, f := range files {
			if f.id == found["attachment_id"] {
				name, size = f.name, len(f.data)
			}
		}
		out["name"], out["size"] = name, size
	case partSeparator:
		orElse("spacing", 1)
		orElse("divider", true)
	case partContainer:
		if out["accent_color"] == nil {
			out["accent_color"] = nil // said, not left out
		}
		orElse("spoiler", false)
	}
	if list := asList(part["components"]); list != nil {
		inner := []any{}
		for _, p := range list {
			inner = append(inner, s.shape(p.(object), n, files))
		}
		out["components"] = inner
	}
	if p, ok := part["accessory"].(object); ok {
		out["accessory"] = s.shape(p, n, files)
	}
	return out
}

func (s *Server) shapeMedia(item object, files []*attachment) object {
	media, _ := item["media"].(object)
	return object{"media": s.media(media, files), "description": item["description"], "spoiler": item["spoiler"] == true}
}

func (s *Server) media(media object, files []*attachment) object {
	address := text(media["url"])
	out := object{"id": "0", "url": address, "proxy_url": address}
	if name, ok := strings.CutPrefix(address, "attachment://"); ok {
		for _, f := range files {
			if f.name == name {
				out["url"], out["proxy_url"] = s.Address()+f.path, s.Address()+f.path
				out["attachment_id"], out["content_type"] = f.id, f.kind
				if f.width > 0 {
					out["width"], out["height"] = f.width, f.height
				}
			}
		}
	}
	return out
}
