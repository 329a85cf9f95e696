package discord

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// moderator is any of what makes somebody a moderator of a channel.
var moderator = []rest.Permissions{rest.ManageMessages, rest.ManageGuild}

// reserved are the commands for which somebody counts as a moderator only with this
// permission. Discord cannot hide a subcommand from the others, so the bot refuses them.
var reserved = map[string]rest.Permissions{"adjudicate": rest.ManageMessages}

// moderates reports whether a person counts as a moderator, and to which commands they do
// not.
func moderates(in interaction.Interaction) (yes bool, except []string) {
	for command, may := range reserved {
		if !in.May.Has(may) {
			except = append(except, command)
		}
	}
	return in.Guild != "" && slices.ContainsFunc(moderator, in.May.Has), except
}

// Other bots have commands called help or settings, and people install this one into
// every conversation: only a few commands stand at the top, all others are subcommands
// of tree. There the everyday ones come first, then the groups of help.
const tree = "go"

var top = []string{"new", "place", "pass", "button", "delay", "score", "board", "show"}

// path returns the words by which a command is typed: "place", "go undo", "go room settings".
func path(c bot.Command) string {
	if slices.Contains(top, c.Name) {
		return c.Name
	}
	return strings.Join(slices.DeleteFunc([]string{tree, c.Group, c.Name}, func(s string) bool { return s == "" }), " ")
}

// pathOf returns the path of the command of a name, or the name if there is none.
func pathOf(name string) string {
	if c, ok := bot.FindCommand(name); ok {
		return path(c)
	}
	return name
}

// commandAt returns the name of the command that is typed by a path. Clients that have not
// heard of the tree yet send the name alone.
func commandAt(path string) string {
	if inTree, ok := strings.CutPrefix(path, tree+" "); ok {
		return inTree[strings.LastIndex(inTree, " ")+1:]
	}
	return path
}

// A menu is an entry in the menu of a user or a message that is a command with
// that user or message as an option.
type menu struct {
	name            string
	kind            discordgo.ApplicationCommandType
	command, option string
}

var menus = []menu{
	{wordMenuInvite, discordgo.UserApplicationCommand, "new", "opponent"},
	{wordMenuShow, discordgo.MessageApplicationCommand, "show", "diagram"},
}

// Limits of Discord's on commands.
const (
	maxDescription = 100
	maxChoice      = 100
	maxChoices     = 25
)

// A command is a command as it is registered. discordgo's would name for each option
// what Discord allows of some alone.
type command struct {
	Type         discordgo.ApplicationCommandType       `json:"type"`
	Name         string                                 `json:"name"`
	Names        map[discordgo.Locale]string            `json:"name_localizations,omitempty"` // of menus alone
	Description  string                                 `json:"description,omitempty"`
	Descriptions map[discordgo.Locale]string            `json:"description_localizations,omitempty"`
	Options      []option                               `json:"options,omitempty"`
	Contexts     []discordgo.InteractionContextType     `json:"contexts,omitempty"`          // not of a guild's commands
	Installs     []discordgo.ApplicationIntegrationType `json:"integration_types,omitempty"` // likewise
}

// An option may also be a subcommand, or a group of them.
type option struct {
	Type         discordgo.ApplicationCommandOptionType      `json:"type"`
	Name         string                                      `json:"name"`
	Description  string                                      `json:"description"`
	Descriptions map[discordgo.Locale]string                 `json:"description_localizations,omitempty"`
	Required     bool                                        `json:"required,omitempty"`
	Autocomplete bool                                        `json:"autocomplete,omitempty"`
	Choices      []*discordgo.ApplicationCommandOptionChoice `json:"choices,omitempty"`
	MaxLength    int                                         `json:"max_length,omitempty"`
	Options      []option                                    `json:"options,omitempty"` // of a subcommand or group
}

// fileOption is the name of the option that attaches a file with a diagram.
const fileOption = "file"

// maxTyped is as long as the bot lets anything typed be, in bytes; characters
// may have several.
const maxTyped = 1000

// Where commands can be used, and how they come there.
var (
	anywhere = []discordgo.InteractionContextType{discordgo.InteractionContextGuild, discordgo.InteractionContextBotDM, discordgo.InteractionContextPrivateChannel}
	anyhow   = []discordgo.ApplicationIntegrationType{discordgo.ApplicationIntegrationGuildInstall, discordgo.ApplicationIntegrationUserInstall}
)

// project makes Discord's commands of the bot's.
func project(commands []bot.Command, guild bool) []command {
	var out []command
	branches := command{Type: discordgo.ChatApplicationCommand, Name: tree, Description: wordTree,
		Descriptions: localized(wordTree, func(tag string) string { return bot.Translated(tag, wordTree) }), Contexts: anywhere, Installs: anyhow}
	for _, c := range commands {
		p := projectCommand(c)
		switch words := strings.Fields(path(c)); len(words) {
		case 1:
			out = append(out, command{Type: discordgo.ChatApplicationCommand, Name: p.Name, Description: p.Description, Descriptions: p.Descriptions,
				Options: p.Options, Contexts: anywhere, Installs: anyhow})
		case 2:
			branches.Options = append(branches.Options, p)
		default:
			g := groupOf(&branches, words[1])
			g.Options = append(g.Options, p)
		}
	}
	if len(branches.Options) > 0 {
		out = append(out, branches)
	}
	for _, m := range menus {
		if slices.ContainsFunc(commands, func(c bot.Command) bool { return c.Name == m.command }) {
			out = append(out, command{Type: m.kind, Name: m.name, Names: localized(m.name, func(tag string) string { return bot.Translated(tag, m.name) }),
				Contexts: anywhere, Installs: anyhow})
		}
	}
	if guild {
		for i := range out {
			out[i].Contexts, out[i].Installs = nil, nil
		}
	}
	return out
}

// groupOf returns a group of subcommands, which it adds if it is not there.
func groupOf(c *command, name string) *option {
	i := slices.IndexFunc(c.Options, func(o option) bool {
		return o.Type == discordgo.ApplicationCommandOptionSubCommandGroup && o.Name == name
	})
	if i < 0 {
		i = len(c.Options)
		english := bot.GroupSummary(name, "en")
		c.Options = append(c.Options, option{Type: discordgo.ApplicationCommandOptionSubCommandGroup, Name: name, Description: english,
			Descriptions: localized(english, func(tag string) string { return bot.GroupSummary(name, tag) })})
	}
	return &c.Options[i]
}

// projectCommand makes a subcommand of a command of the bot's.
func projectCommand(c bot.Command) option {
	p := option{Type: discordgo.ApplicationCommandOptionSubCommand, Name: c.Name, Description: rest.Clip(c.Summary, maxDescription),
		Descriptions: localized(c.Summary, func(tag string) string { return rest.Clip(c.In(tag).Summary, maxDescription) })}
	for _, o := range c.Options {
		if inForm(c.Name, o.Name) {
			continue
		}
		p.Options = append(p.Options, projectOption(o))
		if o.Type == bot.DiagramOption {
			p.Options = append(p.Options, option{Type: discordgo.ApplicationCommandOptionAttachment, Name: fileOption, Description: wordFile,
				Descriptions: localized(wordFile, func(tag string) string { return bot.Translated(tag, wordFile) })})
		}
	}
	slices.SortStableFunc(p.Options, func(a, b option) int { return cmp.Compare(before(a), before(b)) })
	return p
}

// before orders options: Discord wants the required ones first.
func before(o option) int {
	if o.Required {
		return 0
	}
	return 1
}

func projectOption(o bot.Option) option {
	p := option{Type: discordgo.ApplicationCommandOptionString, Name: o.Name, Description: rest.Clip(o.Summary, maxDescription), Required: o.Required,
		Descriptions: localized(o.Summary, func(tag string) string { return rest.Clip(o.In(tag).Summary, maxDescription) })}
	switch o.Type {
	case bot.IntegerOption:
		p.Type = discordgo.ApplicationCommandOptionInteger
	case bot.UserOption:
		p.Type = discordgo.ApplicationCommandOptionUser
		return p
	case bot.BoolOption:
		p.Type = discordgo.ApplicationCommandOptionBoolean
		return p
	case bot.DiagramOption: // an option is one line: without it a form asks for it, or it is in a file
		p.Required = false
		return p
	}
	switch {
	case o.Suggest:
		p.Autocomplete = true
	case len(o.Choices) > 0:
		for i, c := range o.Choices {
			made := choice(o, c)
			made.NameLocalizations = localized(c.Label, func(tag string) string { return rest.Clip(o.In(tag).Choices[i].Label, maxChoice) })
			p.Choices = append(p.Choices, made)
		}
		return p
	}
	if p.Type == discordgo.ApplicationCommandOptionString && !o.Rest {
		p.MaxLength = maxTyped
	}
	return p
}

// choice makes Discord's choice of the bot's.
func choice(o bot.Option, c bot.Choice) *discordgo.ApplicationCommandOptionChoice {
	out := &discordgo.ApplicationCommandOptionChoice{Name: rest.Clip(c.Label, maxChoice), Value: c.Value}
	if o.Type == bot.IntegerOption {
		if n, err := strconv.Atoi(c.Value); err == nil {
			out.Value = n
		}
	}
	return out
}

// findOption finds an option of a command.
func findOption(name, option string) (bot.Option, bool) {
	c, _ := bot.FindCommand(name)
	if i := slices.IndexFunc(c.Options, func(o bot.Option) bool { return o.Name == option }); i >= 0 {
		return c.Options[i], true
	}
	return bot.Option{}, false
}

// register registers the commands, unless they are there already.
func (a *Adapter) register(ctx context.Context, commands []bot.Command) error {
	if there, err := a.there(ctx, commands); err != nil || there {
		return err
	}
	want := project(commands, a.cfg.Guild != "")
	there, err := a.rest.PutCommands(ctx, a.cfg.Guild, want)
	if err != nil {
		return err
	}
	a.log.Info("commands registered", "count", len(want))
	_, err = a.registeredAs(there)
	return err
}

// there reports whether the commands are registered, and remembers the ids of those that are.
func (a *Adapter) there(ctx context.Context, commands []bot.Command) (bool, error) {
	there, err := a.rest.Commands(ctx, a.cfg.Guild)
	if err != nil {
		return false, err
	}
	have, err := a.registeredAs(there)
	return err == nil && bytes.Equal(canonical(have), canonical(project(commands, a.cfg.Guild != ""))), err
}

// registeredAs reads the commands that Discord has, and remembers their ids for
// mentions in texts.
func (a *Adapter) registeredAs(there []json.RawMessage) ([]command, error) {
	var have []command
	ids := map[string]string{}
	for _, raw := range there {
		var c struct {
			command
			ID string `json:"id"`
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, errors.New("parse the registered commands: invalid JSON")
		}
		have = append(have, c.command)
		if c.Type <= discordgo.ChatApplicationCommand {
			ids[c.Name] = c.ID
		}
	}
	a.commandIDs.Store(&ids)
	return have, nil
}

// canonical writes commands so that equal ones are equal.
func canonical(cs []command) []byte {
	cs = slices.Clone(cs)
	for i := range cs {
		cs[i].Type = max(cs[i].Type, discordgo.ChatApplicationCommand)
		cs[i].Contexts, cs[i].Installs = slices.Sorted(slices.Values(cs[i].Contexts)), slices.Sorted(slices.Values(cs[i].Installs))
	}
	slices.SortFunc(cs, func(a, b command) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name)) })
	data, err := json.Marshal(cs)
	if err != nil {
		return nil // nothing in it can fail
	}
	return data
}
