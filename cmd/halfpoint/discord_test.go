package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// config check tries the token on Discord, and says what to do about a wrong one.
func TestDiscordConfigCheck(t *testing.T) {
	d := discordtest.New(t, discordtest.Options{Lenient: true, Limits: discordtest.NoLimits()})
	t.Setenv("HALFPOINT_DISCORD_API", d.API())
	t.Setenv("HALFPOINT_DISCORD_TOKEN", d.Token())
	if status, says := halfpoint("config", "check"); status != 0 || !strings.Contains(says, "discord: bot: Halfpoint") || !strings.Contains(says, "discord: invite: https://discord.com/oauth2/authorize?client_id="+d.Application()) {
		t.Errorf("%d %s", status, says)
	}
	room := d.Guild("Go club").Channel("games")
	if status, says := halfpoint("config", "check", "--channel", room.ID()); status != 0 || !strings.Contains(says, "discord: channel #games: posted a board and deleted it again") {
		t.Errorf("%d %s", status, says)
	}
	room.OverwriteBot(0, discordtest.AttachFiles)
	if status, says := halfpoint("config", "check", "--channel", room.ID()); status != 1 || !strings.Contains(says, "\nhalfpoint: channel #games: the bot lacks Attach Files;") {
		t.Errorf("%d %s", status, says)
	}
	for channel, why := range map[string]string{"games": "neither the id of a Discord channel", "#go:example.org": "matrix.homeserver is not set"} {
		if status, says := halfpoint("config", "check", "--channel", channel); status != 2 || !strings.Contains(says, why) {
			t.Errorf("%s: %d %s", channel, status, says)
		}
	}
	t.Setenv("HALFPOINT_DISCORD_TOKEN", d.Token()+"x")
	if status, says := halfpoint("config", "check"); status != 2 || !strings.Contains(says, "discord.token: rejected by Discord") || strings.Contains(says, d.Token()) {
		t.Errorf("%d %s", status, says)
	}
	t.Setenv("HALFPOINT_DISCORD_TOKEN", "swordfish")
	if status, says := halfpoint("config", "check"); status != 2 || !strings.Contains(says, "not a bot's token") || strings.Contains(says, "swordfish") {
		t.Errorf("%d %s", status, says)
	}
	if n := d.Gateway().Identified; n != 0 {
		t.Errorf("identified %d times", n)
	}
}

// One line of the program's log says that it is on Discord, in how many servers and with
// how many commands.
func TestDiscordStartIsLogged(t *testing.T) {
	d := discordtest.New(t, discordtest.Options{Limits: discordtest.NoLimits()})
	d.Guild("Go club")
	d.Guild("Chess club")
	s := exec.Command(program, "--listen", "127.0.0.1:0", "--database", filepath.Join(t.TempDir(), "halfpoint.db"))
	s.Env = append(os.Environ(), "HALFPOINT_DISCORD_API="+d.API(), "HALFPOINT_DISCORD_TOKEN="+d.Token())
	s.Dir = t.TempDir()
	log, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	defer s.Wait()
	defer s.Process.Kill()
	var said []string
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if strings.Contains(lines.Text(), "connected to Discord") {
			said = append(said, lines.Text())
			s.Process.Signal(syscall.SIGTERM) // and the rest of the log follows
		}
	}
	if len(said) != 1 || !regexp.MustCompile(` servers=2 commands=\d+`).MatchString(said[0]) {
		t.Errorf("the log says\n%s", strings.Join(said, "\n"))
	}
}

// Where Discord does not accept the bot and nobody asked for the local room, the program
// ends: whatever looks after it must not take it for healthy.
func TestDiscordThatRejectsTheBot(t *testing.T) {
	d := discordtest.New(t, discordtest.Options{Lenient: true, Limits: discordtest.NoLimits()})
	t.Setenv("HALFPOINT_DISCORD_API", d.API())
	t.Setenv("HALFPOINT_DISCORD_TOKEN", d.Token()+"x")
	t.Setenv("HALFPOINT_DATABASE", filepath.Join(t.TempDir(), "halfpoint.db"))
	if status, says := halfpoint(); status != 1 || !strings.Contains(says, "\nhalfpoint: discord: ") || strings.Contains(says, d.Token()) {
		t.Errorf("%d %s", status, says)
	}
}

// The program ends when the last chat has stopped, unless somebody asked for the local room.
func TestPlatformsThatStop(t *testing.T) {
	why := errors.New("the token is not accepted (4004)")
	room := func(change func(*bot.Settings)) bool {
		s := bot.Defaults
		change(&s)
		return asksForRoom(s)
	}
	for name, x := range map[string]struct {
		room  bool
		chats int
		fail  []string
		ends  bool
	}{
		"the only chat":        {room(func(*bot.Settings) {}), 1, []string{"discord"}, true},
		"both chats":           {room(func(*bot.Settings) {}), 2, []string{"discord", "matrix"}, true},
		"one of two":           {room(func(*bot.Settings) {}), 2, []string{"matrix"}, false},
		"the room":             {room(func(*bot.Settings) {}), 1, []string{"web"}, false},
		"a room with a name":   {room(func(s *bot.Settings) { s.Hosts = []string{"go.example.org"} }), 1, []string{"discord"}, false},
		"a room for others":    {room(func(s *bot.Settings) { s.Listen = "0.0.0.0:8080" }), 1, []string{"discord"}, false},
		"a room with an owner": {room(func(s *bot.Settings) { s.Owner = secret.New("correct horse battery") }), 1, []string{"discord"}, false},
	} {
		ended := false
		p := &platforms{room: x.room, chats: x.chats, end: func() { ended = true }}
		for _, platform := range x.fail {
			p.stopped(platform, why)
		}
		if err := p.failure(); ended != x.ends || (err != nil) != x.ends {
			t.Errorf("%s: ends %v with %v", name, ended, err)
		}
	}
}
