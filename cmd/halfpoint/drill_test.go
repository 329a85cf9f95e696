package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// The drill of docs/postgres.md, with a double of Discord: games are played through two processes;
// the one that holds the shard dies between a turn and its picture; the primary dies; yesterday's
// dump is put back. Nothing that was answered is lost.
func TestDrill(t *testing.T) {
	tier.Change(t)
	primary := pgtest.New(t)
	primary.Exec(t, "CREATE DATABASE club")
	standby := primary.Standby(t)
	d := discordtest.New(t, discordtest.Options{Limits: discordtest.NoLimits(), IdentifyEvery: time.Millisecond, Patience: time.Hour})
	guild := d.Guild("Go club")
	room, alice, bob := guild.Channel("games"), guild.Member("Alice"), guild.Member("Bob")

	t.Setenv("HALFPOINT_LEASE", "2")
	t.Setenv("HALFPOINT_DISCORD_API", d.API())
	t.Setenv("HALFPOINT_DISCORD_TOKEN", d.Token())
	address := primary.Address("club") + "," + standby.Dir
	first := serve(t, address)
	first.stderr.await("connected to Discord")
	second := serve(t, address)

	asked := 0
	local := func(s *served, seat, text string) { // again, if it was told to try again
		t.Helper()
		asked++
		answer, ok := s.ask(uuid(asked), seat, text)
		for strings.Contains(answer, "Something went wrong") {
			answer, ok = s.ask(uuid(asked), seat, text)
		}
		if !ok || strings.Contains(answer, `"private":true`) {
			t.Fatalf("%s: %s\n%s", text, answer, s.stderr.String())
		}
	}
	// shown waits for the board after a turn on Discord, and counts those that anybody sees.
	shown := func(in *discordtest.Channel, turn string) {
		t.Helper()
		shows := func(m *discordtest.Message) bool { return strings.Contains(m.Content, turn) && len(m.Attachments) > 0 }
		in.Wait(func(all []*discordtest.Message) bool { return slices.ContainsFunc(all, shows) })
		if n := len(slices.DeleteFunc(in.Messages(), func(m *discordtest.Message) bool { return !shows(m) })); n != 1 {
			t.Fatalf("the board after %s is shown %d times\n%s", turn, n, d.Transcript())
		}
	}
	place := func(who *discordtest.Person, in *discordtest.Channel, at string) {
		who.Slash(in, "place", discordtest.Opt("at", at))
	}

	// Both play in the local room, through both processes, and on Discord.
	local(first, "black", "/new aga 9x9")
	local(second, "black", "/place E5")
	local(first, "white", "/place C3")
	alice.Slash(room, "new", discordtest.Opt("size", "9x9"), discordtest.Opt("color", "black"), discordtest.Opt("opponent", bob))
	bob.Press(invited(room), "Join")
	thread := room.WaitThread(0)
	place(alice, thread, "E5")
	shown(thread, "Black E5")

	// Yesterday.
	primary.Run(t, `pg_dump --format=custom --file="$DIR/yesterday" --host="$DIR" --username=halfpoint club`)

	// The holder is killed while it sends the picture. The other one takes over and shows it.
	d.Fault(discordtest.Fault{Files: true, Drop: discordtest.BeforeDone, Meanwhile: func() { first.Process.Kill() }})
	place(bob, thread, "C3")
	shown(thread, "White C3")
	local(second, "black", "/place D5")

	// The primary dies, and the standby is promoted.
	primary.Crash(t)
	standby.Exec(t, "SELECT pg_promote()")
	standby.Exec(t, "ALTER SYSTEM SET synchronous_standby_names = ''") // it has no standby yet
	standby.Exec(t, "SELECT pg_reload_conf()")
	local(second, "white", "/place G7")
	place(alice, thread, "D5")
	shown(thread, "Black D5")
	if status, says := halfpoint("check", "--database", address); status != 0 || !strings.Contains(says, "2 games") {
		t.Errorf("after all that: %d, %s", status, says)
	}

	// Yesterday's games are those of yesterday, and can be played on.
	standby.Run(t, `createdb --host="$DIR" --username=halfpoint --encoding=UTF8 --template=template0 restored &&
		pg_restore --host="$DIR" --username=halfpoint --dbname=restored --no-owner --role=halfpoint `+filepath.Join(primary.Dir, "yesterday"))
	restored := standby.Address("restored")
	if status, says := halfpoint("check", "--database", restored); status != 0 || !strings.Contains(says, "2 games") {
		t.Errorf("yesterday: %d, %s", status, says)
	}
	t.Setenv("HALFPOINT_DISCORD_TOKEN", "")
	local(serve(t, restored), "black", "/place D5")
}

// invited waits for the invitation to a game, and returns it.
func invited(room *discordtest.Channel) *discordtest.Message {
	room.Wait(func(all []*discordtest.Message) bool { return len(all) > 0 && len(all[len(all)-1].Controls) > 0 })
	return room.Last()
}
