package discordtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The documented rules that the specification lacks.

const routeCallback = "POST /interactions/{interaction_id}/{interaction_token}/callback"

// checkOwn holds a body that the specification accepts against them.
func (s *Server) checkOwn(r *request) []fieldError {
	switch r.route.name {
	case "POST /channels/{channel_id}/messages":
		return checkMessage(nil, r.object(), r.files, 0)
	case "PATCH /channels/{channel_id}/messages/{message_id}":
		return checkMessage(nil, r.object(), r.files, s.flagsOf(r))
	case "POST /webhooks/{webhook_id}/{webhook_token}":
		bad := checkMessage(nil, r.object(), r.files, 0)
		for _, key := range []string{"username", "avatar_url", "thread_name", "applied_tags"} {
			if r.object()[key] != nil {
				bad = append(bad, problem(nil, key, "UNSUPPORTED", "a follow-up to an interaction has no %s", key))
			}
		}
		return bad
	case "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original",
		"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}":
		return checkMessage(nil, r.object(), r.files, s.flagsOf(r))
	case routeCallback:
		return checkCallback(r.object(), r.files, s.flagsOf(r))
	case "PUT /applications/{application_id}/commands", "PUT /applications/{application_id}/guilds/{guild_id}/commands":
		return checkCommands(asList(r.body))
	}
	return nil
}

// flagsOf are the flags of the message that a request edits, so far.
func (s *Server) flagsOf(r *request) int {
	if id := r.params["message_id"]; id != "" {
		if c := s.channels[r.params["channel_id"]]; c != nil {
			if m := c.find(id); m != nil {
				return m.flags
			}
		}
	}
	for _, key := range []string{"webhook_token", "interaction_token"} {
		i := s.tokens[r.params[key]]
		if i == nil {
			continue
		}
		if r.params["message_id"] != "" {
			if m := i.followUp(r.params["message_id"]); m != nil {
				return m.flags
			}
		} else if i.original != nil {
			return i.original.flags
		} else if i.message != nil {
			return i.message.flags
		}
	}
	return 0
}

func problem(at []string, step, code, format string, args ...any) fieldError {
	where := slices.Clone(at)
	if step != "" {
		where = append(where, strings.Split(step, ".")...)
	}
	return fieldError{path: where, code: code, message: fmt.Sprintf(format, args...)}
}

func tooLong(at []string, step string, limit int) fieldError {
	return problem(at, step, "BASE_TYPE_MAX_LENGTH", "Must be %d or fewer in length.", limit)
}

// settable are the flags that a client may send.
const settable = flagSuppressEmbeds | flagEphemeral | flagSilent | 1<<13

// checkMessage checks the body of a message. had are the flags of the message
// that it edits.
func checkMessage(at []string, o object, files []upload, had int) (bad []fieldError) {
	add := func(f fieldError) { bad = append(bad, f) }
	if utf8.RuneCountInString(text(o["content"])) > 2000 {
		add(tooLong(at, "content", 2000))
	}
	flags := had
	if o["flags"] != nil {
		sent := number(o["flags"])
		if sent&^(settable|had) != 0 {
			add(problem(at, "flags", "BASE_TYPE_CHOICES", "flags %d cannot be set", sent&^settable))
		}
		flags |= sent
	}
	if len(asList(o["embeds"])) > 0 {
		add(problem(at, "embeds", "UNSUPPORTED", "the double has no embeds"))
	}
	bad = append(bad, checkComponents(at, asList(o["components"]), false)...)
	bad = append(bad, checkAttachments(at, asList(o["attachments"]), files)...)
	bad = append(bad, checkMentions(at, o["allowed_mentions"])...)
	if o["enforce_nonce"] == true && o["nonce"] == nil {
		add(problem(at, "nonce", "BASE_TYPE_REQUIRED", "enforce_nonce needs a nonce"))
	}
	return bad
}

func checkMentions(at []string, v any) (bad []fieldError) {
	o, _ := v.(object)
	for _, p := range asList(o["parse"]) {
		if (p == "users" || p == "roles") && len(asList(o[p.(string)])) > 0 {
			bad = append(bad, problem(at, "allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse:[%q] and %s: [ids...] are mutually exclusive.", p, p))
		}
	}
	return bad
}

// checkAttachments wants a file for each described upload and each described
// at most once. An id that is no small number is a file that is there already.
func checkAttachments(at []string, list []any, files []upload) (bad []fieldError) {
	sent := map[string]bool{}
	for _, f := range files {
		if sent[f.field] {
			bad = append(bad, problem(at, "files", "DUPLICATE", "files[%s] was sent twice", f.field))
		}
		sent[f.field] = true
	}
	seen := map[string]bool{}
	for i, a := range list {
		id := text(a.(object)["id"])
		if seen[id] {
			bad = append(bad, problem(at, "attachments."+itoa(i)+".id", "DUPLICATE", "attachment %s is listed twice", id))
		}
		seen[id] = true
		if len(id) < 10 && !sent[id] {
			bad = append(bad, problem(at, "attachments."+itoa(i)+".id", "ATTACHMENT_NOT_FOUND", "there is no files[%s]", id))
		}
	}
	if list != nil {
		for _, f := range files {
			if !seen[f.field] {
				bad = append(bad, problem(at, "attachments", "ATTACHMENT_NOT_LISTED", "files[%s] is not listed", f.field))
			}
		}
	}
	return bad
}

// Component types.
const (
	partRow         = 1
	partButton      = 2
	partSelect      = 3
	partInput       = 4
	partLabel       = 18
	maxParts        = 40
	maxRows         = 5
	styleLink       = 5
	stylePremium    = 6
	maxModalParts   = 5
	maxChoiceString = 100
	maxCommandSize  = 8000
)

func checkComponents(at []string, list []any, modal bool) (bad []fieldError) {
	total := 0
	ids := map[string]bool{}
	numbers := map[int]bool{}
	var walk func(at []string, part object)
	walk = func(at []string, part object) {
		total++
		add := func(step, code, format string, args ...any) {
			bad = append(bad, problem(at, step, code, format, args...))
		}
		if id := text(part["custom_id"]); id != "" {
			if ids[id] {
				add("custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
			}
			ids[id] = true
		}
		if n := number(part["id"]); n > 0 {
			if numbers[n] {
				add("id", "COMPONENT_ID_DUPLICATED", "Component id cannot be duplicated")
			}
			numbers[n] = true
		}
		kind := number(part["type"])
		if !modal && kind > partSelect {
			add("type", "UNSUPPORTED", "the double has no components of type %d in messages", kind)
		}
		switch kind {
		case partRow:
			row := asList(part["components"])
			for _, c := range row {
				if number(c.(object)["type"]) != partButton && len(row) > 1 {
					add("components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width")
				}
			}
		case partButton:
			style := number(part["style"])
			custom, link := text(part["custom_id"]) != "", text(part["url"]) != ""
			if style < styleLink && (!custom || link) {
				add("custom_id", "BASE_TYPE_REQUIRED", "A custom id and no url is required")
			}
			if style == styleLink && (custom || !link) {
				add("url", "BASE_TYPE_REQUIRED", "A url and no custom id is required")
			}
			if text(part["label"]) == "" && part["emoji"] == nil && style != stylePremium {
				add("label", "BUTTON_COMPONENT_INVALID_LABEL", "A button must have a label or an emoji")
			}
		case partSelect:
			options := asList(part["options"])
			values, chosen := map[string]bool{}, 0
			for i, o := range options {
				o := o.(object)
				if values[text(o["value"])] {
					add("options."+itoa(i)+".value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used")
				}
				values[text(o["value"])] = true
				if o["default"] == true {
					chosen++
				}
			}
			least, most := 1, 1
			if part["min_values"] != nil {
				least = number(part["min_values"])
			}
			if part["max_values"] != nil {
				most = number(part["max_values"])
			}
			if least > most || most > len(options) {
				add("max_values", "SELECT_COMPONENT_MAX_VALUES", "%d to %d of %d options", least, most, len(options))
			}
			if chosen > most {
				add("options", "SELECT_COMPONENT_DEFAULTS", "%d defaults, at most %d", chosen, most)
			}
		}
		for i, c := range asList(part["components"]) {
			walk(append(slices.Clone(at), "components", itoa(i)), c.(object))
		}
		if c, ok := part["component"].(object); ok {
			walk(append(slices.Clone(at), "component"), c)
		}
	}
	for i, p := range list {
		walk(append(slices.Clone(at), "components", itoa(i)), p.(object))
	}
	if total > maxParts {
		bad = append(bad, tooLong(at, "components", maxParts))
	}
	if !modal && len(list) > maxRows {
		bad = append(bad, tooLong(at, "components", maxRows))
	}
	return bad
}

func checkCallback(o object, files []upload, had int) (bad []fieldError) {
	data, _ := o["data"].(object)
	at := []string{"data"}
	switch number(o["type"]) {
	case 4:
		return checkMessage(at, data, files, 0)
	case 5:
		if flags := number(data["flags"]); data["flags"] != nil && flags&^flagEphemeral != 0 {
			bad = append(bad, problem(at, "flags", "BASE_TYPE_CHOICES", "a deferral can set EPHEMERAL only"))
		}
		for key := range data {
			if key != "flags" && data[key] != nil {
				bad = append(bad, problem(at, key, "DEFERRED", "a deferral has no %s", key))
			}
		}
	case 6:
		if len(data) > 0 {
			bad = append(bad, problem(at, "", "DEFERRED", "a deferred update has no data"))
		}
	case 7:
		return checkMessage(at, data, files, had)
	case 8:
		for i, c := range asList(data["choices"]) {
			bad = append(bad, checkChoice(append(slices.Clone(at), "choices", itoa(i)), c.(object))...)
		}
	case 9:
		list := asList(data["components"])
		if len(list) > maxModalParts {
			bad = append(bad, tooLong(at, "components", maxModalParts))
		}
		bad = append(bad, checkComponents(at, list, true)...)
	}
	return bad
}

func checkChoice(at []string, c object) (bad []fieldError) {
	if n := utf8.RuneCountInString(text(c["name"])); n < 1 || n > 100 {
		bad = append(bad, problem(at, "name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length."))
	}
	if utf8.RuneCountInString(text(c["value"])) > maxChoiceString {
		bad = append(bad, tooLong(at, "value", maxChoiceString))
	}
	return bad
}

var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)

func checkName(at []string, step, name string) (bad []fieldError) {
	if !commandName.MatchString(name) || name != strings.ToLower(name) {
		bad = append(bad, problem(at, step, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid"))
	}
	return bad
}

func checkCommands(list []any) (bad []fieldError) {
	names, counts := map[string]bool{}, map[int]int{}
	most := map[int]int{1: 100, 2: 15, 3: 15, 4: 1}
	for i, c := range list {
		at := []string{itoa(i)}
		c := c.(object)
		bad = append(bad, checkCommand(at, c)...)
		kind := commandType(c)
		key := itoa(kind) + "/" + text(c["name"])
		if names[key] {
			bad = append(bad, problem(at, "name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique"))
		}
		names[key] = true
		if counts[kind]++; counts[kind] == most[kind]+1 {
			bad = append(bad, problem(at, "", "APPLICATION_COMMANDS_MAX", "at most %d commands of type %d", most[kind], kind))
		}
	}
	return bad
}

func commandType(c object) int {
	if c["type"] == nil {
		return 1
	}
	return number(c["type"])
}

func checkCommand(at []string, c object) (bad []fieldError) {
	size := longest(c, "name") + longest(c, "description")
	if commandType(c) == 1 {
		bad = append(bad, checkName(at, "name", text(c["name"]))...)
		for locale, name := range localized(c, "name") {
			bad = append(bad, checkName(at, "name_localizations."+locale, name)...)
		}
		if n := utf8.RuneCountInString(text(c["description"])); n < 1 || n > 100 {
			bad = append(bad, problem(at, "description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length."))
		}
	} else {
		if text(c["description"]) != "" {
			bad = append(bad, problem(at, "description", "APPLICATION_COMMAND_DESCRIPTION", "a context menu command has no description"))
		}
		if len(asList(c["options"])) > 0 {
			bad = append(bad, problem(at, "options", "APPLICATION_COMMAND_OPTIONS", "a context menu command has no options"))
		}
	}
	bad = append(bad, checkOptions(at, asList(c["options"]), &size)...)
	if size > maxCommandSize {
		bad = append(bad, problem(at, "", "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (%d)", maxCommandSize))
	}
	return bad
}

func checkOptions(at []string, options []any, size *int) (bad []fieldError) {
	names := map[string]bool{}
	localNames := map[string]bool{}
	optional := false
	for i, o := range options {
		o := o.(object)
		at := append(slices.Clone(at), "options", itoa(i))
		add := func(step, code, format string, args ...any) {
			bad = append(bad, problem(at, step, code, format, args...))
		}
		bad = append(bad, checkName(at, "name", text(o["name"]))...)
		for locale, name := range localized(o, "name") {
			bad = append(bad, checkName(at, "name_localizations."+locale, name)...)
			if localNames[locale+"/"+name] {
				add("name_localizations."+locale, "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "localized option names must be unique")
			}
			localNames[locale+"/"+name] = true
		}
		if names[text(o["name"])] {
			add("name", "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "option names must be unique")
		}
		names[text(o["name"])] = true
		kind := number(o["type"])
		if kind < optionString || kind > optionUser {
			add("type", "UNSUPPORTED", "the double has no options of type %d", kind)
		}
		if o["required"] == true && optional {
			add("", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		}
		optional = optional || o["required"] != true
		if o["autocomplete"] == true && len(asList(o["choices"])) > 0 {
			add("autocomplete", "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE", "autocomplete and choices exclude each other")
		}
		*size += longest(o, "name") + longest(o, "description")
		values := map[any]bool{}
		for j, c := range asList(o["choices"]) {
			c := c.(object)
			at := append(slices.Clone(at), "choices", itoa(j))
			bad = append(bad, checkChoice(at, c)...)
			if values[c["value"]] {
				bad = append(bad, problem(at, "value", "APPLICATION_COMMAND_OPTIONS_CHOICE_DUPLICATE", "choices must be unique"))
			}
			values[c["value"]] = true
			*size += longest(c, "name") + utf8.RuneCountInString(fmt.Sprint(c["value"]))
		}
		if least, most := o["min_length"], o["max_length"]; least != nil && most != nil && number(least) > number(most) {
			add("min_length", "NUMBER_TYPE_MAX", "min_length is above max_length")
		}
	}
	return bad
}

func localized(o object, key string) map[string]string {
	out := map[string]string{}
	all, _ := o[key+"_localizations"].(object)
	for locale, v := range all {
		if v != nil {
			out[locale] = text(v)
		}
	}
	return out
}

// longest is the length of a text in its longest language.
func longest(o object, key string) int {
	n := utf8.RuneCountInString(text(o[key]))
	for _, v := range localized(o, key) {
		n = max(n, utf8.RuneCountInString(v))
	}
	return n
}

func asNumber(v any) json.Number {
	n, _ := v.(json.Number)
	return n
}
