package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// discordConfig is what the configuration says of Discord.
func discordConfig(s bot.Settings, log *slog.Logger) discord.Config {
	d := s.Discord
	return discord.Config{
		Token: d.Token, Application: d.Application, PublicKey: d.PublicKey, Guild: d.Guild, API: d.API, Listen: d.Listen,
		Shards: d.Shards, First: d.First, Count: d.Count, Person: s.Limits.Person, Channel: s.Limits.Channel, Version: version(), Log: log,
	}
}

// discords gives the adapter of Discord, none if it is not configured, and what
// closes its part of the database.
func discords(e *env, s bot.Settings, st *store.Store, log *slog.Logger) ([]bot.Adapter, func() error, error) {
	nothing := func() error { return nil }
	if s.Discord.Token.IsZero() {
		return nil, nothing, nil
	}
	db, err := st.Beside()
	if err != nil {
		return nil, nothing, err
	}
	c := discordConfig(s, log)
	c.DB = db
	a, err := discord.New(c)
	if err != nil {
		return nil, db.Close, badDiscord(e, err)
	}
	return []bot.Adapter{a}, db.Close, nil
}

// checkDiscord prints what a try on Discord finds.
func checkDiscord(e *env, s bot.Settings) error {
	if s.Discord.Token.IsZero() {
		fmt.Fprintln(e.out, "discord: no token, so not used")
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	found, err := discord.Check(ctx, discordConfig(s, slog.New(slog.DiscardHandler)))
	for _, line := range found {
		fmt.Fprintln(e.out, "discord:", line)
	}
	if err != nil {
		return badDiscord(e, err)
	}
	return nil
}

// badDiscord gives an error of Discord's configuration as one.
func badDiscord(e *env, err error) error {
	return &bot.BadSetting{File: e.cli.Config, Why: err.Error()}
}
