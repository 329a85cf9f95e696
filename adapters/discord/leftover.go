package discord

import (
	"context"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
)

// leftover takes away the commands of one server that were registered there
// before discord.guild was taken out or named another: people would see each
// command twice. Which servers have some only shows when somebody uses one.
func (a *Adapter) leftover(in interaction.Interaction) {
	guild := in.Command.Guild
	if guild == "" || guild == a.cfg.Guild || !a.hinted.put("commands "+guild, true) {
		return
	}
	a.later("commands "+guild, func(ctx context.Context) error {
		_, err := a.low.PutCommands(ctx, guild, []command{})
		if err != nil {
			a.hinted.drop("commands " + guild)
			return err
		}
		a.log.Info("the commands of one server were taken away: they are registered elsewhere now", "guild", guild)
		return nil
	})
}
