package discord

import (
	"context"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
)

// removeGlobalCommands removes the commands that were registered everywhere before
// discord.guild named a server: people there would see each command twice.
func (a *Adapter) removeGlobalCommands(ctx context.Context) error {
	there, err := a.rest.Commands(ctx, "")
	if err != nil || len(there) == 0 {
		return err
	}
	if _, err := a.rest.PutCommands(ctx, "", []command{}); err != nil {
		return err
	}
	a.log.Info("commands removed everywhere but in the server of discord.guild", "count", len(there))
	return nil
}

// removeStaleCommands removes the commands of one server that were registered there
// before discord.guild was taken out or named another: people would see each
// command twice. Which servers have some only shows when somebody uses one. What
// fails is tried again with the next.
func (a *Adapter) removeStaleCommands(in interaction.Interaction) {
	guild := in.Command.Guild
	if guild == "" || guild == a.cfg.Guild || !a.once("commands "+guild) {
		return
	}
	err := a.requests.Go("commands "+guild, func() {
		ctx, cancel := context.WithTimeout(a.drainCtx, shortly)
		defer cancel()
		if _, err := a.rest.PutCommands(ctx, guild, []command{}); err != nil {
			a.log.Debug("commands of one server not removed, will retry", "guild", guild, "error", err)
			a.hints.Remove("commands " + guild)
			return
		}
		a.log.Info("commands of one server removed, no longer registered there", "guild", guild)
	})
	if err != nil {
		a.hints.Remove("commands " + guild)
	}
}
