package rest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/memnet"
	"github.com/halfpoint-go/halfpoint/bot"
)

// Everything that is sent is what Discord's specification asks for, and
// everything that is sent back is understood. The double checks the former.
func TestSpecification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC))) // Discord's ids reach back to 2015
		network := &memnet.Network{}
		d := discordtest.New(t, discordtest.Options{Limits: discordtest.NoLimits(), Network: network})
		c, err := rest.New(rest.Config{API: d.API(), Token: bot.NewSecret(d.Token()), Application: d.Application(), Dial: network.DialContext})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		club := d.Guild("Go club")
		room, alice := club.Channel("games"), club.Member("alice")
		ctx := t.Context()
		must := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}

		g, err := c.GatewayBot(ctx)
		must("gateway", err)
		if g.URL == "" || g.Shards != 1 || g.SessionStartLimit.Total == 0 || g.SessionStartLimit.MaxConcurrency != 1 {
			t.Errorf("gateway %+v", g)
		}
		me, err := c.Me(ctx)
		must("me", err)
		app, err := c.App(ctx)
		must("application", err)
		if me.ID == "" || app.ID != d.Application() || app.PublicKey != d.PublicKey() {
			t.Errorf("me %+v, application %+v", me, app)
		}
		commands, err := c.PutCommands(ctx, "", []any{map[string]any{"name": "place", "description": "Place a stone"}})
		must("register", err)
		read, err := c.Commands(ctx, "")
		must("commands", err)
		if len(commands) != 1 || len(read) != 1 {
			t.Errorf("commands %s, %s", commands, read)
		}

		png := []byte("\x89PNG\r\n\x1a\n")
		message := rest.Message{
			Content: new("It is Black's turn."), Nonce: rest.Nonce("post-1"), AllowedMentions: rest.AllowedMentions{Users: []string{alice.ID()}},
			Components: []rest.Component{
				rest.Row(rest.Component{Type: rest.Button, Style: rest.Primary, Label: "Pass", CustomID: "pass"}),
				rest.Row(rest.Component{Type: rest.StringSelect, CustomID: "dead", Placeholder: "Dead groups", MinValues: new(0), MaxValues: 1,
					Options: []rest.SelectOption{{Label: "D4", Value: "D4", Description: "3 stones"}}}),
			},
			Files: []rest.File{{Name: "board.png", Alt: "Black at D4", Data: png}},
		}
		sent, err := c.Send(ctx, room.ID(), message)
		must("send", err)
		again, err := c.Send(ctx, room.ID(), message)
		must("send again", err)
		if sent.ID != again.ID || sent.Attachments[0].Description != "Black at D4" || sent.Nonce != message.Nonce || len(room.Messages()) != 1 {
			t.Errorf("sent %+v, again %+v", sent, again)
		}
		answer := rest.Message{Content: new("Yes."), Flags: rest.SuppressNotifications}
		_, err = c.Send(ctx, room.ID(), answer)
		must("answer", err)
		edited, err := c.Edit(ctx, room.ID(), sent.ID, rest.Message{Components: []rest.Component{}})
		must("take the buttons away", err)
		if edited.Content != *message.Content || len(edited.Attachments) != 1 {
			t.Errorf("edited %+v", edited)
		}
		edited, err = c.Edit(ctx, room.ID(), sent.ID, rest.Message{Content: new("New."), Files: []rest.File{{Name: "new.png", Alt: "new", Data: png}}})
		must("edit", err)
		if len(edited.Attachments) != 1 || edited.Attachments[0].Filename != "new.png" {
			t.Errorf("edited %+v", edited)
		}
		edited, err = c.Edit(ctx, room.ID(), sent.ID, rest.Message{Attachments: []rest.Attachment{{ID: edited.Attachments[0].ID}}, Files: []rest.File{{Name: "second.png", Data: png}}})
		must("add a file", err)
		if len(edited.Attachments) != 2 {
			t.Errorf("edited %+v", edited)
		}
		all, err := c.Messages(ctx, room.ID(), "", 10)
		must("messages", err)
		if len(all) != 2 {
			t.Errorf("read %d", len(all))
		}

		thread, err := c.StartThreadUnder(ctx, room.ID(), sent.ID, rest.NewThread{Name: "Game 1", AutoArchive: 1440})
		must("thread", err)
		if !thread.IsThread() || thread.ID != sent.ID || thread.ParentID != room.ID() {
			t.Errorf("thread %+v", thread)
		}
		dm, err := c.DM(ctx, alice.ID())
		must("direct messages", err)
		_, err = c.Send(ctx, dm.ID, rest.Message{Content: new("Your turn.")})
		must("send directly", err)
		alice.CloseDMs()
		if _, err = c.Send(ctx, dm.ID, rest.Message{Content: new("Your turn.")}); !rest.Forbidden(err) {
			t.Errorf("closed direct messages: %v", err)
		}

		may, err := c.Permissions(ctx, club.ID(), thread.ID)
		must("permissions", err)
		if missing := may.Missing(rest.ViewChannel | rest.SendMessages | rest.AttachFiles); len(missing) > 0 {
			t.Errorf("missing %v", missing)
		}
		d.GuildWithout("a club without the bot")
		ids := []string{club.ID()}
		for i := range 401 {
			ids = append(ids, d.Guild(fmt.Sprint("club ", i)).ID())
		}
		in, err := c.Guilds(ctx)
		must("guilds", err)
		got := []string{}
		for _, g := range in {
			got = append(got, g.ID)
		}
		if !slices.Equal(got, ids) {
			t.Errorf("%d guilds of %d: %v", len(got), len(ids), got)
		}
		must("delete", c.Delete(ctx, room.ID(), again.ID))
		if err := c.Delete(ctx, room.ID(), again.ID); !rest.Gone(err) {
			t.Errorf("deleted twice: %v", err)
		}
		if _, err := c.Channel(context.WithoutCancel(ctx), "1"); !rest.Gone(err) && !rest.Forbidden(err) {
			t.Errorf("no such channel: %v", err)
		}
	})
}
