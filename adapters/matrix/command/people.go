package command

import (
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/bot"
)

// A pill is a link to a person, with the words that it shows.
type pill struct {
	user id.UserID
	text string
}

// maxPills is how many pills of a message are looked at.
const maxPills = 20

// pills returns the links to persons in the formatted body, in their order.
func (t Typed) pills() []pill {
	var out []pill
	text := t.Formatted
	if _, quoted, ok := strings.Cut(text, "<mx-reply>"); ok {
		_, text, _ = strings.Cut(quoted, "</mx-reply>")
	}
	for range maxPills {
		_, tag, ok := strings.Cut(text, "<a ")
		if !ok {
			break
		}
		tag, text, _ = strings.Cut(tag, ">")
		inner, after, ok := strings.Cut(text, "</a>")
		if !ok {
			break
		}
		if user := linkedUser(attribute(tag, "href")); user != "" && !strings.Contains(inner, "<") {
			out = append(out, pill{user, strings.TrimSpace(html.UnescapeString(inner))})
		}
		text = after
	}
	return out
}

// attribute returns the value of an attribute of a tag.
func attribute(tag, name string) string {
	_, rest, ok := strings.Cut(tag, name+"=")
	if !ok || rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	value, _, ok := strings.Cut(rest[1:], rest[:1])
	if !ok {
		return ""
	}
	return html.UnescapeString(value)
}

// linkedUser returns the person that a link leads to; empty if it leads elsewhere.
func linkedUser(href string) id.UserID {
	text, ok := strings.CutPrefix(href, "https://matrix.to/#/")
	if !ok {
		if text, ok = strings.CutPrefix(href, "matrix:u/"); !ok {
			return ""
		}
		text = "@" + text
	}
	text, _, _ = strings.Cut(text, "?")
	text, err := url.PathUnescape(text)
	if err != nil || !isUser(id.UserID(text)) {
		return ""
	}
	return id.UserID(text)
}

// isUser reports whether an id is that of a person.
func isUser(user id.UserID) bool {
	_, _, err := user.ParseAndValidateRelaxed()
	return err == nil && !strings.ContainsFunc(string(user), func(r rune) bool { return r <= ' ' || r > '~' })
}

// unlinked writes links to persons as some clients put them into a plain body,
// "[Bob](https://matrix.to/#/@bob:example.org)", as the ids of those persons.
func unlinked(text string) string {
	var b strings.Builder
	for range maxPills {
		before, rest, ok := strings.Cut(text, "](")
		at := strings.LastIndexByte(before, '[')
		href, after, closed := strings.Cut(rest, ")")
		if !ok || !closed {
			break
		}
		if user := linkedUser(strings.Trim(href, "<>")); user != "" && at >= 0 {
			b.WriteString(before[:at])
			b.WriteString(string(user))
		} else {
			b.WriteString(before + "](" + href + ")")
		}
		text = after
	}
	return b.String() + text
}

// userOption returns the first option of a command that takes a person.
func userOption(c bot.Command) (string, bool) {
	i := slices.IndexFunc(c.Options, func(o bot.Option) bool { return o.Type == bot.UserOption })
	if i < 0 {
		return "", false
	}
	return c.Options[i].Name, true
}

// withUsers writes what follows the command so that persons, who may be named in
// any place and by names of several words, are ids behind the name of their
// option.
func (t Typed) withUsers(c bot.Command, rest string) string {
	option, ok := userOption(c)
	if !ok {
		return rest
	}
	rest = unlinked(rest)
	from := 0
	for _, p := range t.pills() {
		at := indexName(rest, p.text, from)
		if p.user == t.Self || at < 0 {
			continue
		}
		rest = rest[:at] + string(p.user) + rest[at+len(p.text):]
		from = at + len(p.user)
	}
	lines := strings.Split(rest, "\n")
	for i, line := range lines {
		words := strings.Fields(line)
		for j, word := range words {
			if user := strings.TrimRight(word, ",:"); isUser(id.UserID(user)) {
				words[j] = option + ":" + user
			}
		}
		lines[i] = " " + strings.Join(words, " ")
	}
	return strings.Join(lines, "\n")
}

// indexName returns where a name stands in a text, as words of their own, from a
// place on; -1: nowhere.
func indexName(text, name string, from int) int {
	for name != "" {
		at := strings.Index(text[from:], name)
		if at < 0 {
			break
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		next := first(text[at+len(name):])
		ends := at+len(name) == len(text) || unicode.IsSpace(next) || next == ',' || next == ':'
		if ends && (at == 0 || unicode.IsSpace(before) || before == ':' || before == '=') {
			return at
		}
		from = at + len(name)
	}
	return -1
}

// users returns the persons meant by the options that take one, whose arguments
// become their ids.
func (t Typed) users(c bot.Command, args map[string]string) map[string]id.UserID {
	var out map[string]id.UserID
	for _, o := range c.Options {
		if o.Type != bot.UserOption || args[o.Name] == "" {
			continue
		}
		if user := t.user(args[o.Name]); user != "" && user != t.Self {
			if out == nil {
				out = map[string]id.UserID{}
			}
			out[o.Name] = user
			args[o.Name] = string(user)
		}
	}
	return out
}

// user returns the person whom a word means: by id, by link, or by a name, if the
// message mentions who has it. Empty: nobody that is known.
func (t Typed) user(word string) id.UserID {
	if isUser(id.UserID(word)) {
		return id.UserID(word)
	}
	if user := linkedUser(word); user != "" {
		return user
	}
	if strings.EqualFold(word, "me") {
		return ""
	}
	others := slices.DeleteFunc(slices.Clone(t.Mentions), func(u id.UserID) bool { return u == t.Self || !isUser(u) })
	for _, u := range others {
		if strings.EqualFold(u.Localpart(), strings.TrimPrefix(word, "@")) {
			return u
		}
	}
	if len(others) == 1 {
		return others[0]
	}
	return ""
}
