package discordtest

import (
	"encoding/json"
	"maps"
)

func (s *Server) commandsFor(r *request) (string, error) {
	if r.params["application_id"] != s.appID {
		return "", refuse(404, 10002, "Unknown Application")
	}
	guild := r.params["guild_id"]
	if guild == "" {
		return "", nil
	}
	_, err := s.guildFor(r)
	return guild, err
}

// stored is a command as Discord keeps it.
func (s *Server) stored(c object, guild string, old object) object {
	out := withoutNulls(c).(object)
	out["id"] = s.newID()
	if old != nil {
		out["id"] = old["id"]
	}
	out["application_id"], out["version"] = s.appID, s.newID()
	if out["type"] == nil {
		out["type"] = json.Number("1")
	}
	if out["description"] == nil {
		out["description"] = ""
	}
	if n, ok := out["default_member_permissions"].(json.Number); ok {
		out["default_member_permissions"] = n.String()
	} else {
		out["default_member_permissions"] = nil
	}
	if out["nsfw"] == nil {
		out["nsfw"] = false
	}
	if guild != "" {
		out["guild_id"] = guild
		delete(out, "contexts")
		delete(out, "integration_types")
	} else {
		if out["contexts"] == nil {
			out["contexts"] = nil
		}
		if out["integration_types"] == nil {
			out["integration_types"] = []any{json.Number("0")}
		}
	}
	delete(out, "handler")
	visit(out["options"], func(o object) {
		if o["required"] == false {
			delete(o, "required")
		}
	})
	return out
}

func sameCommand(a, b object) bool { return commandType(a) == commandType(b) && a["name"] == b["name"] }

func putCommands(s *Server, r *request) (reply, error) {
	guild, err := s.commandsFor(r)
	if err != nil {
		return reply{}, err
	}
	list := []object{}
	for _, c := range asList(r.body) {
		var old object
		for _, o := range s.commands[guild] {
			if sameCommand(o, c.(object)) {
				old = o
			}
		}
		list = append(list, s.stored(c.(object), guild, old))
	}
	s.commands[guild] = list
	s.commandWrites++
	s.changed.Broadcast()
	return ok(list)
}

func getCommands(s *Server, r *request) (reply, error) {
	guild, err := s.commandsFor(r)
	if err != nil {
		return reply{}, err
	}
	list := []object{}
	for _, c := range s.commands[guild] {
		c = maps.Clone(c)
		if r.query.Get("with_localizations") != "true" {
			delete(c, "name_localizations")
			delete(c, "description_localizations")
		}
		list = append(list, c)
	}
	return ok(list)
}
