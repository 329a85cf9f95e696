package discordtest

import (
	"encoding/json"
	"maps"
	"strings"
)

// stored is a command as Discord keeps it.
func (s *Server) stored(c object, guild string, old object) object {
	out := withoutNulls(c).(object)
	out["id"] = s.newID()
	if old != nil {
		out["id"] = old["id"]
	}
	out["application_id"], out["version"] = s.appID, s.newID()
	defaults := object{"type": json.Number("1"), "description": "", "nsfw": false, "contexts": nil, "integration_types": []any{json.Number("0")}}
	for key, v := range defaults {
		if out[key] == nil {
			out[key] = v
		}
	}
	bits, restricted := out["default_member_permissions"].(json.Number)
	if out["default_member_permissions"] = nil; restricted {
		out["default_member_permissions"] = bits.String()
	}
	if guild != "" {
		out["guild_id"] = guild
		delete(out, "contexts")
		delete(out, "integration_types")
	}
	delete(out, "handler")
	visit(out["options"], func(o object) {
		if o["required"] == false {
			delete(o, "required")
		}
	})
	return out
}

func putCommands(s *Server, r *request) (any, error) {
	if r.Params["application_id"] != s.appID {
		return nil, errApplication
	}
	guild, list, created := r.Params["guild_id"], []object{}, 0
	for _, c := range asList(r.body) {
		c := c.(object)
		var old object
		for _, o := range s.commands[guild] {
			if commandType(o) == commandType(c) && o["name"] == c["name"] {
				old = o
			}
		}
		if old == nil { // under another name it is another command
			created++
		}
		list = append(list, s.stored(c, guild, old))
	}
	if s.creations[guild] == nil {
		s.creations[guild] = &bucket{}
	}
	if b, rate := s.creations[guild], s.o.Limits.Creations; rate.N > 0 && !b.takeAll(created, rate, r.At) {
		return nil, tooOften{b.wait(rate, r.At), codeCreations}
	}
	s.commands[guild] = list
	s.commandWrites++
	return list, nil
}

// HasCommand reports whether a command or subcommand, such as "go undo", is registered by
// a name and an id, which is what makes a mention of it one that people can tap.
func (s *Server) HasCommand(name, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.Fields(name)
	for _, list := range s.commands {
		for _, c := range list {
			if len(path) > 0 && c["name"] == path[0] && c["id"] == id {
				_, _, err := descend(c, path[1:], object{})
				return err == nil
			}
		}
	}
	return false
}

func getCommands(s *Server, r *request) (any, error) {
	if r.Params["application_id"] != s.appID {
		return nil, errApplication
	}
	list := []object{}
	for _, c := range s.commands[r.Params["guild_id"]] {
		c = maps.Clone(c)
		if r.query.Get("with_localizations") != "true" {
			delete(c, "name_localizations")
			delete(c, "description_localizations")
		}
		list = append(list, c)
	}
	return list, nil
}
