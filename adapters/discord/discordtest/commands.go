package discordtest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
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

func postCommand(s *Server, r *request) (reply, error) {
	guild, err := s.commandsFor(r)
	if err != nil {
		return reply{}, err
	}
	s.commandWrites++
	s.changed.Broadcast()
	for i, old := range s.commands[guild] {
		if sameCommand(old, r.object()) {
			s.commands[guild][i] = s.stored(r.object(), guild, old)
			return ok(s.commands[guild][i])
		}
	}
	if len(s.commands[guild]) >= 130 {
		return reply{}, errTooManyCommands
	}
	c := s.stored(r.object(), guild, nil)
	s.commands[guild] = append(s.commands[guild], c)
	return reply{201, c}, nil
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

func getCommand(s *Server, r *request) (reply, error) {
	guild, err := s.commandsFor(r)
	if err != nil {
		return reply{}, err
	}
	for _, c := range s.commands[guild] {
		if c["id"] == r.params["command_id"] {
			return ok(c)
		}
	}
	return reply{}, errCommand
}

func deleteCommand(s *Server, r *request) (reply, error) {
	guild, err := s.commandsFor(r)
	if err != nil {
		return reply{}, err
	}
	n := len(s.commands[guild])
	s.commands[guild] = slices.DeleteFunc(s.commands[guild], func(c object) bool { return c["id"] == r.params["command_id"] })
	if len(s.commands[guild]) == n {
		return reply{}, errCommand
	}
	s.commandWrites++
	s.changed.Broadcast()
	return reply{status: 204}, nil
}

// getCommandPermissions are the commands that a server's own settings give to
// somebody or take from them.
func getCommandPermissions(s *Server, r *request) (reply, error) {
	guild, err := s.commandsFor(r)
	if err != nil {
		return reply{}, err
	}
	list := []object{}
	for _, c := range append(slices.Clone(s.commands[guild]), s.commands[""]...) {
		rules := []object{}
		add := func(who map[string]bool, permission bool) {
			for _, who := range slices.Sorted(maps.Keys(who)) {
				if name, user, _ := strings.Cut(who, "/"); name == c["name"] {
					rules = append(rules, object{"id": user, "type": 2, "permission": permission})
				}
			}
		}
		add(s.guilds[guild].denied, false)
		add(s.guilds[guild].allowed, true)
		if len(rules) > 0 {
			list = append(list, object{"id": c["id"], "application_id": s.appID, "guild_id": guild, "permissions": rules})
		}
	}
	return ok(list)
}
