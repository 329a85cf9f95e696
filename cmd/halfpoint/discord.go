package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
)

// discordConfig returns the settings of Discord.
func discordConfig(s bot.Settings, log *slog.Logger) discord.Config {
	d := s.Discord
	return discord.Config{
		Token: d.Token, Application: d.Application, PublicKey: d.PublicKey, Guild: d.Guild, API: d.API, Listen: d.Listen, MessageContent: d.Content,
		Shards: d.Shards, Person: s.Limits.Person, Channel: s.Limits.Channel, Version: version(), Log: log,
	}
}

// discordAdapters returns the adapter of Discord, none if it is not configured. A nil Keeper is
// that of a process that is alone.
func discordAdapters(s bot.Settings, st *store.Store, b *bot.Bot, k *units.Keeper, log *slog.Logger) ([]bot.Adapter, error) {
	if s.Discord.Token.IsZero() {
		return nil, nil
	}
	c := discordConfig(s, log)
	if k != nil {
		c.Hold, c.Turn, c.Processes = b.Hold, st.Turn, k.Processes
	}
	a, err := discord.New(c)
	if err != nil {
		return nil, s.Mistake(err)
	}
	return []bot.Adapter{a}, nil
}

// checkDiscord tries the settings on Discord and prints the findings.
func checkDiscord(e *env, s bot.Settings, channel string) error {
	if s.Discord.Token.IsZero() {
		fmt.Fprintln(e.out, "discord: off, discord.token is not set")
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	found, err := discord.Check(ctx, discordConfig(s, slog.New(slog.DiscardHandler)), channel, testBoard())
	for _, line := range found {
		fmt.Fprintln(e.out, "discord:", line)
	}
	if err != nil {
		return s.Mistake(err)
	}
	return nil
}
