package discord

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// Limits of Discord's on messages, in characters.
const (
	maxContent  = 2000
	maxMessages = 5 // of one answer
)

// Where an instant or a room stands in a text while it is escaped.
const (
	holeBegin = "\x0e"
	holeEnd   = "\x0f"
)

// written makes of a text of the bot what Discord shows as that text: nothing in
// it is markup or a mention, instants are shown in the reader's own zone and
// language, rooms are links, and commands can be tapped once it is known by which
// ids they are registered.
func (a *Adapter) written(text string) string { return a.writtenIn(text, false) }

// writtenIn is written for the thread of the game that the text is about, if inThread.
func (a *Adapter) writtenIn(text string, inThread bool) string {
	var holes []string
	hole := func(s string) string {
		holes = append(holes, s)
		return holeBegin + strconv.Itoa(len(holes)-1) + holeEnd
	}
	text = bot.Fill(text, bot.Format{
		Time: func(t time.Time, _ string) string { return hole(fmt.Sprintf("<t:%d:f> (<t:%[1]d:R>)", t.Unix())) },
		Ago:  func(t time.Time, _ string) string { return hole(fmt.Sprintf("<t:%d:R>", t.Unix())) },
		Person: func(platform, id, name string) string {
			if platform != Name {
				return name
			}
			return hole("<@" + id + ">")
		},
		Address: func(address string) string { return hole("<" + address + ">") }, // which shows no preview
		Thread:  inThread,
		Live:    true,
		Room: func(where bot.Place, words string) string {
			id := cmp.Or(where.Thread, where.Channel)
			if where.Under != "" { // the thread of a game has the id of the message that it is under
				_, id = readReceipt(where.Under)
				if there, known := a.threads.Get(id); known && !there {
					id = ""
				}
			}
			if where.Platform != Name || id == "" {
				return words
			}
			return hole("<#" + id + ">")
		},
		Command: func(m bot.Mention) string {
			name, options := pathOf(m.Command), typedOptions(m)
			registered, _, _ := strings.Cut(name, " ")
			if ids := a.commandIDs.Load(); ids != nil && (*ids)[registered] != "" && name != tree {
				name = "</" + name + ":" + (*ids)[registered] + ">"
			} else {
				name = "/" + name
			}
			if options != "" {
				name += " `" + strings.ReplaceAll(options, "`", "'") + "`"
			}
			return hole(name)
		},
	})
	var pairs []string
	for i, h := range holes {
		pairs = append(pairs, holeBegin+strconv.Itoa(i)+holeEnd, h)
	}
	return strings.NewReplacer(pairs...).Replace(escape(text))
}

// typedOptions writes the options of a command as people can type them here. Discord
// takes nothing but True and False for options that are yes or no, and has people chosen
// from a list. Options that a form asks for cannot be typed.
func typedOptions(m bot.Mention) string {
	var typed []bot.MentionedOption
	for _, o := range m.Options {
		switch known, _ := findOption(m.Command, o.Name); {
		case known.Type == bot.UserOption, inForm(m.Command, o.Name):
			continue
		case known.Type != bot.BoolOption:
		case o.Value == "yes":
			o.Value = "True"
		case o.Value == "no":
			o.Value = "False"
		}
		typed = append(typed, o)
	}
	m.Options = typed
	_, options, _ := strings.Cut(m.String(), " ")
	return options
}

// special are the characters that can mean something to Discord anywhere in a
// text; before them stands a backslash.
const special = "\\*_~`|<>[]@:"

// listMark matches what begins a heading, a small line or an item of a list.
var listMark = regexp.MustCompile(`(?m)^[ \t]*(?:[#+-]|[0-9]+[.)])`)

// escape makes markdown, mentions and emoji plain text.
func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		ordinary := r == ':' && !strings.HasPrefix(s[i:], "://") && !emoji(s[i+1:])
		if strings.ContainsRune(special, r) && !ordinary {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return listMark.ReplaceAllStringFunc(b.String(), func(m string) string { return m[:len(m)-1] + `\` + m[len(m)-1:] })
}

// emoji reports whether what follows a colon is the rest of an emoji's name.
func emoji(s string) bool {
	end := strings.IndexByte(s, ':')
	return end > 1 && !strings.ContainsAny(s[:end], " \n\t")
}

// small begins a line that is shown smaller than the others.
const small = "-# "

// code writes a text in letters of the same width.
func code(s string) string {
	return "```\n" + strings.ReplaceAll(strings.Trim(s, "\n"), "```", "'''") + "\n```"
}

// pieces cuts a text into messages, between lines where it can, else between words.
func pieces(text string) []string {
	var out []string
	for utf8.RuneCountInString(text) > maxContent && len(out) < maxMessages-1 {
		head := string([]rune(text)[:maxContent])
		at := strings.LastIndexByte(head, '\n')
		if at < maxContent/4 {
			at = strings.LastIndexByte(head, ' ')
		}
		if at < maxContent/4 {
			at = len(head)
			for strings.HasSuffix(head[:at], "\\") {
				at-- // what it escapes goes with it
			}
		}
		out = append(out, text[:at])
		if text = text[at:]; text[0] == '\n' || text[0] == ' ' {
			text = text[1:]
		}
	}
	return append(out, rest.Clip(text, maxContent))
}

// uncalled are those whom a text, as written gives it, does not mention.
func uncalled(who []outbox.User, text string) []outbox.User {
	return slices.DeleteFunc(slices.Clone(who), func(w outbox.User) bool { return strings.Contains(text, "<@"+w.ID+">") })
}

// mention calls people.
func mention(who []outbox.User) (text string, ids []string) {
	for _, w := range who {
		if w.Platform == Name && w.ID != "" {
			ids = append(ids, w.ID)
			text += " <@" + w.ID + ">"
		}
	}
	return strings.TrimSpace(text), ids
}

// picture draws a picture as a file with its alt text.
func picture(p render.Picture, name string) (rest.File, error) {
	var b bytes.Buffer
	if err := p.Draw(&b, render.Options{}); err != nil {
		return rest.File{}, err
	}
	return rest.File{Name: name, Alt: p.Text(), Type: "image/png", Data: b.Bytes()}, nil
}

// letters is a picture in letters: the board of a scene, or a chart, which in words is
// shorter.
func letters(p render.Picture) string {
	text := p.Text()
	if _, board, ok := strings.Cut(text, "\n"); ok {
		return code(board)
	}
	if s := p.Letters(); utf8.RuneCountInString(s) < maxContent/2 {
		return code(s)
	}
	return escape(text)
}

// pictureName names the picture of a post, so that the post can be known by it.
func pictureName(p outbox.Post) string {
	if p.Sheet != nil {
		return fmt.Sprintf("event-%d-%d.png", p.Number, p.Seq)
	}
	return fmt.Sprintf("game-%d-%d.png", p.Number, p.Seq)
}

// content builds a message of a text and what belongs to it.
type content struct {
	text     string // as written gives it
	lang     string // in which it is
	picture  render.Picture
	name     string // of the picture
	file     *outbox.File
	controls []match.Control
	menu     string // label of the menu that they are in; empty: they are buttons
	link     string // address of the page that shows it; empty: there is none
	notify   []outbox.User
	flags    int
	plain    bool     // no files may be attached
	late     bool     // the files follow
	hints    []string // to be read after the text
}

// messages returns the message, and more messages if the text is too long for one.
func (c content) messages() ([]rest.Message, error) {
	components := buttons(c.controls)
	if c.menu != "" {
		components = entries(c.menu, c.controls)
	}
	components = linked(components, c.link, c.lang)
	var files []rest.File
	lines := []string{c.text}
	attach := !c.plain && !c.late
	switch {
	case c.picture == nil:
	case attach:
		f, err := picture(c.picture, c.name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	default:
		lines = append(lines, letters(c.picture))
	}
	switch {
	case c.file == nil:
	case attach:
		files = append(files, rest.File{Name: c.file.Name, Type: c.file.Type, Data: c.file.Data})
	case c.plain:
		lines = append(lines, bot.Translated(c.lang, wordNoRecord, filesPermission))
	}
	text := joined(append(lines, c.hints...))
	call, _ := mention(uncalled(c.notify, text))
	_, ids := mention(c.notify)
	var out []rest.Message
	for _, piece := range pieces(joined([]string{text, call})) {
		m := rest.Message{Content: &piece, Flags: c.flags | rest.SuppressEmbeds, Components: []rest.Component{}, Attachments: []rest.Attachment{}}
		m.AllowedMentions.Users = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.Contains(piece, "<@"+id+">") })
		out = append(out, m)
	}
	out[0].Files, out[0].Components = files, components
	return out, nil
}

// joined joins the lines of a message, without those that are empty.
func joined(lines []string) string {
	return strings.Trim(strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n"), "\n")
}

// filesPermission is the permission to attach files, as Discord calls it.
var filesPermission = rest.Permissions(0).Missing(rest.AttachFiles)[0]
