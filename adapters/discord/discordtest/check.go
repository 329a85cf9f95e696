package discordtest

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The documented rules that the specification lacks.

// checks collects what is wrong with a body.
type checks []fieldError

// want notes an error at a path unless ok.
func (bad *checks) want(ok bool, path, code, format string, args ...any) {
	if !ok {
		*bad = append(*bad, fieldError{strings.Trim(path, "."), code, fmt.Sprintf(format, args...)})
	}
}

func (bad *checks) atMost(limit, n int, path string) {
	bad.want(n <= limit, path, "BASE_TYPE_MAX_LENGTH", "Must be %d or fewer in length.", limit)
}

func (bad *checks) length(least, most int, value any, path string) {
	n := utf8.RuneCountInString(text(value))
	bad.want(least <= n && n <= most, path, "BASE_TYPE_BAD_LENGTH", "Must be between %d and %d in length.", least, most)
}

// unique notes an error if a key was seen before.
func (bad *checks) unique(seen map[any]bool, key any, path, code, message string) {
	bad.want(!seen[key], path, code, "%s", message)
	seen[key] = true
}

// checkOwn holds a body that the specification accepts against them.
func checkOwn(r *request) []fieldError {
	var bad checks
	had := 0 // flags of the message that it edits
	if r.message != nil {
		had = r.message.flags
	}
	switch {
	case r.Route == routeCallback:
		bad.callback(r.object(), r.files, had)
	case strings.HasSuffix(r.Route, "/commands"):
		bad.commands(asList(r.body))
	case r.Route == routeFollowUp:
		for _, key := range []string{"username", "avatar_url", "thread_name", "applied_tags"} {
			bad.want(r.object()[key] == nil, key, "UNSUPPORTED", "a follow-up to an interaction has no %s", key)
		}
		bad.message("", r.object(), r.files, 0)
	case strings.Contains(r.Route, "/messages") && r.Route != routeThread:
		bad.message("", r.object(), r.files, had)
	}
	return bad
}

// settable are the flags that a client may send.
const settable = flagSuppressEmbeds | flagEphemeral | flagSilent | 1<<13

// message checks the body of a message. had are the flags of the message
// that it edits.
func (bad *checks) message(at string, o object, files []upload, had int) {
	bad.atMost(2000, utf8.RuneCountInString(text(o["content"])), at+"content")
	if o["flags"] != nil {
		bad.want(number(o["flags"])&^(settable|had) == 0, at+"flags", "BASE_TYPE_CHOICES", "flags %d cannot be set", number(o["flags"])&^settable)
	}
	bad.want(len(asList(o["embeds"])) == 0, at+"embeds", "UNSUPPORTED", "the double has no embeds")
	bad.components(at, asList(o["components"]), false)
	bad.attachments(at, asList(o["attachments"]), files)
	mentions, _ := o["allowed_mentions"].(object)
	for _, p := range asList(mentions["parse"]) {
		list := asList(mentions[text(p)])
		bad.want(len(list) == 0, at+"allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse:[%q] and %s: [ids...] are mutually exclusive.", p, p)
	}
	bad.want(o["enforce_nonce"] != true || o["nonce"] != nil, at+"nonce", "BASE_TYPE_REQUIRED", "enforce_nonce needs a nonce")
}

// attachments wants a file for each described upload and each described
// at most once. An id that is no small number is a file that is there already.
func (bad *checks) attachments(at string, list []any, files []upload) {
	sent, seen := map[any]bool{}, map[any]bool{}
	for _, f := range files {
		bad.unique(sent, f.field, at+"files", "DUPLICATE", "a file was sent twice")
	}
	for i, a := range list {
		id := text(a.(object)["id"])
		path := at + "attachments." + itoa(i) + ".id"
		bad.unique(seen, id, path, "DUPLICATE", "an attachment is listed twice")
		bad.want(len(id) >= 10 || sent[id], path, "ATTACHMENT_NOT_FOUND", "there is no files[%s]", id)
	}
	for _, f := range files {
		bad.want(list == nil || seen[f.field], at+"attachments", "ATTACHMENT_NOT_LISTED", "files[%s] is not listed", f.field)
	}
}

// Component types and limits.
const (
	partRow        = 1
	partButton     = 2
	partSelect     = 3
	partInput      = 4
	partLabel      = 18
	maxParts       = 40
	maxRows        = 5
	styleLink      = 5
	stylePremium   = 6
	maxCommandSize = 8000
)

func (bad *checks) components(at string, list []any, modal bool) {
	total := 0
	ids := map[any]bool{}
	var walk func(at string, part object)
	walk = func(at string, part object) {
		total++
		if id := part["custom_id"]; id != nil {
			bad.unique(ids, id, at+".custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
		}
		kind := number(part["type"])
		supported := kind <= partSelect
		if modal {
			supported = kind == partRow || kind == partInput || kind == partLabel
		}
		bad.want(supported, at+".type", "UNSUPPORTED", "the double has no components of type %d here", kind)
		switch kind {
		case partRow:
			row := asList(part["components"])
			for _, c := range row {
				bad.want(len(row) == 1 || number(c.(object)["type"]) == partButton, at+".components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width")
			}
		case partButton:
			style := number(part["style"])
			custom, link := text(part["custom_id"]) != "", text(part["url"]) != ""
			bad.want(style >= styleLink || custom && !link, at+".custom_id", "BASE_TYPE_REQUIRED", "A custom id and no url is required")
			bad.want(style != styleLink || link && !custom, at+".url", "BASE_TYPE_REQUIRED", "A url and no custom id is required")
			if u, err := url.Parse(text(part["url"])); link {
				bad.want(err == nil && slices.Contains([]string{"http", "https", "discord"}, u.Scheme), at+".url", "URL_TYPE_INVALID_SCHEME", "Scheme must be one of ('http', 'https', 'discord')")
				bad.want(err == nil && strings.Contains(u.Hostname(), "."), at+".url", "URL_TYPE_INVALID_URL", "Not a well formed URL.")
			}
			labelled := text(part["label"]) != "" || part["emoji"] != nil || style == stylePremium
			bad.want(labelled, at+".label", "BUTTON_COMPONENT_INVALID_LABEL", "A button must have a label or an emoji")
		case partSelect:
			bad.menu(at, part)
		}
		for i, c := range asList(part["components"]) {
			walk(at+".components."+itoa(i), c.(object))
		}
		if c, ok := part["component"].(object); ok {
			walk(at+".component", c)
		}
	}
	for i, p := range list {
		walk(at+"components."+itoa(i), p.(object))
	}
	bad.atMost(maxParts, total, at+"components")
	bad.atMost(maxRows, len(list), at+"components")
}

func (bad *checks) menu(at string, part object) {
	options := asList(part["options"])
	values, chosen := map[any]bool{}, 0
	for i, o := range options {
		o := o.(object)
		bad.unique(values, o["value"], at+".options."+itoa(i)+".value", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used")
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
	bad.want(least <= most && most <= len(options), at+".max_values", "SELECT_COMPONENT_MAX_VALUES", "%d to %d of %d options", least, most, len(options))
	bad.want(chosen <= most, at+".options", "SELECT_COMPONENT_DEFAULTS", "%d defaults, at most %d", chosen, most)
}

func (bad *checks) callback(o object, files []upload, had int) {
	data, _ := o["data"].(object)
	switch number(o["type"]) {
	case answerMessage:
		bad.message("data.", data, files, 0)
	case answerDefer:
		bad.want(data["flags"] == nil || number(data["flags"])&^flagEphemeral == 0, "data.flags", "BASE_TYPE_CHOICES", "a deferral can set EPHEMERAL only")
		for key, v := range data {
			bad.want(key == "flags" || v == nil, "data."+key, "DEFERRED", "a deferral has no %s", key)
		}
	case answerDeferEdit:
		bad.want(len(data) == 0, "data", "DEFERRED", "a deferred update has no data")
	case answerUpdate:
		bad.message("data.", data, files, had)
	case answerChoices:
		for i, c := range asList(data["choices"]) {
			bad.choice("data.choices."+itoa(i), c.(object))
		}
	case answerModal:
		bad.components("data.", asList(data["components"]), true)
	}
}

func (bad *checks) choice(at string, c object) {
	bad.length(1, 100, c["name"], at+".name")
	bad.length(0, 100, c["value"], at+".value")
}

var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)

// name checks the name of a command or an option in every language.
func (bad *checks) name(at string, o object) {
	for locale, name := range localized(o, "name") {
		path := at + ".name"
		if locale != "" {
			path += "_localizations." + locale
		}
		bad.want(commandName.MatchString(name) && name == strings.ToLower(name), path, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
}

func (bad *checks) commands(list []any) {
	names, counts := map[any]bool{}, map[int]int{}
	most := map[int]int{1: 100, 2: 15, 3: 15, 4: 1}
	for i, c := range list {
		c, at := c.(object), itoa(i)
		kind := commandType(c)
		options := asList(c["options"])
		if kind == 1 {
			bad.name(at, c)
			bad.length(1, 100, c["description"], at+".description")
		} else {
			bad.want(text(c["description"]) == "", at+".description", "APPLICATION_COMMAND_DESCRIPTION", "a context menu command has no description")
			bad.want(len(options) == 0, at+".options", "APPLICATION_COMMAND_OPTIONS", "a context menu command has no options")
		}
		size := longest(c, "name") + longest(c, "description") + bad.options(at, options)
		bad.want(size <= maxCommandSize, at, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (%d)", maxCommandSize)
		bad.unique(names, itoa(kind)+"/"+text(c["name"]), at+".name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		counts[kind]++
		bad.want(counts[kind] != most[kind]+1, at, "APPLICATION_COMMANDS_MAX", "at most %d commands of type %d", most[kind], kind)
	}
}

func commandType(c object) int {
	if c["type"] == nil {
		return 1
	}
	return number(c["type"])
}

// options checks those of a command and returns how many characters they count.
func (bad *checks) options(at string, options []any) (size int) {
	names := map[any]bool{}
	optional, nested := false, 0
	for i, o := range options {
		o, at := o.(object), at+".options."+itoa(i)
		bad.name(at, o)
		for locale, name := range localized(o, "name") {
			bad.unique(names, locale+"/"+name, at+".name", "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "option names must be unique")
		}
		kind := number(o["type"])
		if isSub(o) {
			nested++
			bad.length(1, 100, o["description"], at+".description")
			size += longest(o, "name") + longest(o, "description") + bad.options(at, asList(o["options"]))
			continue
		}
		bad.want(optionString <= kind && kind <= optionUser || kind == optionFile, at+".type", "UNSUPPORTED", "the double has no options of type %d", kind)
		bad.want(o["required"] != true || !optional, at, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		optional = optional || o["required"] != true
		choices, values := asList(o["choices"]), map[any]bool{}
		bad.want(o["autocomplete"] != true || len(choices) == 0, at+".autocomplete", "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE", "autocomplete and choices exclude each other")
		size += longest(o, "name") + longest(o, "description")
		for j, c := range choices {
			c, at := c.(object), at+".choices."+itoa(j)
			bad.choice(at, c)
			bad.unique(values, c["value"], at+".value", "APPLICATION_COMMAND_OPTIONS_CHOICE_DUPLICATE", "choices must be unique")
			size += longest(c, "name") + utf8.RuneCountInString(fmt.Sprint(c["value"]))
		}
		if least, most := o["min_length"], o["max_length"]; least != nil && most != nil {
			bad.want(number(least) <= number(most), at+".min_length", "NUMBER_TYPE_MAX", "min_length is above max_length")
		}
	}
	bad.want(nested == 0 || nested == len(options), at+".options", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
		"Sub-command and sub-command group option types are mutually exclusive to all other types")
	return size
}

// isSub reports whether an option is a subcommand, or a group of them. The specification
// says how deep they nest.
func isSub(o object) bool {
	kind := number(o["type"])
	return kind == optionSub || kind == optionGroup
}

// localized returns a text by language, its own under "".
func localized(o object, key string) map[string]string {
	out := map[string]string{"": text(o[key])}
	all, _ := o[key+"_localizations"].(object)
	for locale, v := range all {
		if v != nil {
			out[locale] = text(v)
		}
	}
	return out
}

// longest returns the length of a text in its longest language.
func longest(o object, key string) (n int) {
	for _, v := range localized(o, key) {
		n = max(n, utf8.RuneCountInString(v))
	}
	return n
}
