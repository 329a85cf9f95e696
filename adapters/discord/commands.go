package discord

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// moderator is any of what makes somebody a moderator of a channel.
var moderator = []rest.Permissions{rest.ManageMessages, rest.ManageGuild}

// reserved are the commands that only those see who have a permission, unless
// the server's administrators decide otherwise. The others are for all: the bot
// itself says what only moderators may do with them.
var reserved = map[string]rest.Permissions{"adjudicate": rest.ManageMessages}

// permitted reports whether Discord lets somebody use a command only because they
// look after the server, or because its administrators say that they may.
func permitted(in interaction.Interaction, command string) bool {
	_, ok := reserved[command]
	return ok && in.Kind == interaction.Command && in.Command.Type == discordgo.ChatApplicationCommand && in.Guild != "" && in.ByGuild == in.Guild
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
	May          *string                                `json:"default_member_permissions,omitempty"`
	Contexts     []discordgo.InteractionContextType     `json:"contexts,omitempty"`          // not of a guild's commands
	Installs     []discordgo.ApplicationIntegrationType `json:"integration_types,omitempty"` // likewise
}

type option struct {
	Type         discordgo.ApplicationCommandOptionType      `json:"type"`
	Name         string                                      `json:"name"`
	Description  string                                      `json:"description"`
	Descriptions map[discordgo.Locale]string                 `json:"description_localizations,omitempty"`
	Required     bool                                        `json:"required,omitempty"`
	Autocomplete bool                                        `json:"autocomplete,omitempty"`
	Choices      []*discordgo.ApplicationCommandOptionChoice `json:"choices,omitempty"`
	MaxLength    int                                         `json:"max_length,omitempty"`
}

// maxTyped is as long as the bot lets anything typed be, in bytes; characters
// may have several.
const maxTyped = 1000

// Where commands can be used, and how they come there.
var (
	inGuilds = []discordgo.InteractionContextType{discordgo.InteractionContextGuild}
	anywhere = append(inGuilds, discordgo.InteractionContextBotDM, discordgo.InteractionContextPrivateChannel)
	byGuild  = []discordgo.ApplicationIntegrationType{discordgo.ApplicationIntegrationGuildInstall}
	anyhow   = append(byGuild, discordgo.ApplicationIntegrationUserInstall)
)

// project makes Discord's commands of the bot's.
func project(commands []bot.Command, guild bool) []command {
	var out []command
	for _, c := range commands {
		p := command{Type: discordgo.ChatApplicationCommand, Name: c.Name, Description: rest.Clip(c.Summary, maxDescription),
			Descriptions: localized(c.Summary, func(tag string) string { return rest.Clip(c.In(tag).Summary, maxDescription) }), Contexts: anywhere, Installs: anyhow}
		if may, ok := reserved[c.Name]; ok {
			p.May = new(strconv.FormatUint(uint64(may), 10))
			p.Contexts, p.Installs = inGuilds, byGuild
		}
		for _, o := range c.Options {
			p.Options = append(p.Options, projectOption(o))
		}
		slices.SortStableFunc(p.Options, func(a, b option) int { return cmp.Compare(before(a), before(b)) })
		out = append(out, p)
	}
	for _, m := range menus {
		if _, ok := findOption(commands, m.command, m.option); ok {
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
func findOption(commands []bot.Command, name, option string) (bot.Option, bool) {
	for _, c := range commands {
		if i := slices.IndexFunc(c.Options, func(o bot.Option) bool { return o.Name == option }); c.Name == name && i >= 0 {
			return c.Options[i], true
		}
	}
	return bot.Option{}, false
}

// register registers the commands, unless they are there already.
func (a *Adapter) register(ctx context.Context, commands []bot.Command) error {
	want := project(commands, a.cfg.Guild != "")
	there, err := a.rest.Commands(ctx, a.cfg.Guild)
	if err != nil {
		return err
	}
	have, err := a.registeredAs(there)
	if err != nil || bytes.Equal(canonical(have), canonical(want)) {
		return err
	}
	if there, err = a.rest.PutCommands(ctx, a.cfg.Guild, want); err != nil {
		return err
	}
	a.log.Info("commands registered", "count", len(want))
	_, err = a.registeredAs(there)
	return err
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
			return nil, errors.New("the registered commands cannot be read")
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
