package discordtest_test

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A detour sends what is meant for Discord to the double.
type detour struct {
	host string
	http.RoundTripper
}

func (d detour) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", d.host
	return d.RoundTripper.RoundTrip(r)
}

func discordgoSession(t *testing.T, d *discordtest.Server) *discordgo.Session {
	s, err := discordgo.New("Bot " + d.Token())
	if err != nil {
		t.Fatal(err)
	}
	at, _ := url.Parse(d.Address())
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s.Client = &http.Client{Transport: detour{at.Host, transport}, Timeout: 20 * time.Second}
	s.Identify.Compress = false
	s.Identify.Intents = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentMessageContent
	return s
}

// TestDiscordgo holds the double against a library that knows nothing of it.
func TestDiscordgo(t *testing.T) {
	t.Parallel()
	log.SetOutput(io.Discard) // it writes its own trouble there
	d := discordtest.New(t, discordtest.Options{Now: func() time.Time { return noon }, Lax: true, Privileged: 1 << 15, Patience: tier.Patience(t)})
	club := d.Guild("Go club")
	room := club.Channel("games")
	alice := club.Member("alice")
	s := discordgoSession(t, d)
	board := func() []*discordgo.File {
		return []*discordgo.File{{Name: "board.png", ContentType: "image/png", Reader: bytes.NewReader(picture(4, 3))}}
	}
	failed := make(chan error, 100)
	must := func(err error) {
		if err != nil {
			failed <- err
		}
	}
	resumed := make(chan bool, 10)
	s.AddHandler(func(*discordgo.Session, *discordgo.Resumed) { resumed <- true })
	read := make(chan string, 100)
	s.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageCreate) { read <- m.Author.Username + ": " + m.Content })
	s.AddHandler(func(s *discordgo.Session, i *discordgo.InteractionCreate) {
		switch i.Type {
		case discordgo.InteractionApplicationCommandAutocomplete:
			must(s.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{Type: discordgo.InteractionApplicationCommandAutocompleteResult,
				Data: &discordgo.InteractionResponseData{Choices: []*discordgo.ApplicationCommandOptionChoice{{Name: "D4", Value: "D4"}}}}))
		case discordgo.InteractionApplicationCommand:
			must(s.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource}))
			content := "Black " + i.ApplicationCommandData().Options[0].StringValue()
			parts := []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
				discordgo.Button{Label: "Pass", CustomID: "pass", Style: discordgo.PrimaryButton}}}}
			_, err := s.InteractionResponseEdit(i.Interaction, &discordgo.WebhookEdit{Content: &content, Files: board(), Components: &parts})
			must(err)
			_, err = s.FollowupMessageCreate(i.Interaction, true, &discordgo.WebhookParams{Content: "Psst", Flags: discordgo.MessageFlagsEphemeral})
			must(err)
		case discordgo.InteractionMessageComponent:
			must(s.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseModal, Data: &discordgo.InteractionResponseData{
				CustomID: "sure", Title: "Sure?", Components: []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
					discordgo.TextInput{CustomID: "yes", Label: "Type yes", Style: discordgo.TextInputShort}}}}}}))
		case discordgo.InteractionModalSubmit:
			must(s.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseChannelMessageWithSource,
				Data: &discordgo.InteractionResponseData{Content: "Passed.", Files: board()}}))
		}
	})
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	commands, err := s.ApplicationCommandBulkOverwrite(d.Application(), club.ID(), []*discordgo.ApplicationCommand{{Name: "place", Description: "Place a stone",
		Options: []*discordgo.ApplicationCommandOption{{Name: "at", Description: "Where", Type: discordgo.ApplicationCommandOptionString, Required: true, Autocomplete: true}}}})
	if err != nil || len(commands) != 1 || commands[0].GuildID != club.ID() {
		t.Fatal(commands, err)
	}
	if choices, err := alice.Autocomplete(room, "place", discordtest.Opt("at", "D")); err != nil || len(choices) != 1 {
		t.Errorf("the choices are %v, %v", choices, err)
	}
	i := alice.Slash(room, "place", discordtest.Opt("at", "D4"))
	m := i.Answer()
	if m == nil || m.Content != "Black D4" || m.Attachments[0].Name != "board.png" {
		t.Fatalf("the answer is %+v", m)
	}
	press := alice.Press(m, "Pass")
	if press.Modal() == nil {
		t.Fatal("no modal")
	}
	if m := alice.Submit(press, map[string]any{"yes": "yes"}).Answer(); m == nil || m.Content != "Passed." {
		t.Errorf("the answer is %+v", m)
	}

	sent, err := s.ChannelMessageSendComplex(room.ID(), &discordgo.MessageSend{Content: "Hello", Files: board(), AllowedMentions: &discordgo.MessageAllowedMentions{}})
	must(err)
	_, err = s.ChannelMessageEdit(room.ID(), sent.ID, "Hello again")
	must(err)
	thread, err := s.MessageThreadStart(room.ID(), sent.ID, "A game", 60)
	must(err)
	_, err = s.ChannelMessageSend(thread.ID, "In the thread")
	must(err)
	all, err := s.ChannelMessages(room.ID(), 10, "", "", "")
	must(err)
	if len(all) != 3 || all[0].Content != "Hello again" || all[0].Thread == nil {
		t.Errorf("%d messages are read back: %+v", len(all), all)
	}
	dm, err := s.UserChannelCreate(alice.ID())
	must(err)
	_, err = s.ChannelMessageSend(dm.ID, "Your turn")
	must(err)
	must(s.ChannelMessageDelete(room.ID(), sent.ID))
	if err := s.ChannelMessageDelete(room.ID(), sent.ID); err == nil {
		t.Error("a message is deleted twice")
	} else if e, ok := err.(*discordgo.RESTError); !ok || e.Message.Code != discordgo.ErrCodeUnknownMessage {
		t.Error(err)
	}

	// It comes back after a cut and after op 7, and loses nothing.
	// A first heartbeat of discordgo's that finds its connection closed closes the next
	// one, with the code that ends the session, and connects once more.
	beaten := func() *discordtest.Session {
		d.WaitSessions(1)
		session := d.Sessions()[0]
		if !session.WaitBeat() {
			t.Fatal("no heartbeat")
		}
		return session
	}
	for _, part := range []func(*discordtest.Session){(*discordtest.Session).Cut, (*discordtest.Session).Reconnect} {
		session := beaten()
		for len(read) > 0 {
			<-read
		}
		session.Deafen() // so that this is missed for certain
		alice.Say(room, "Are you there?")
		part(session)
		<-resumed
		for text := range read {
			if text == "alice: Are you there?" {
				break
			}
		}
	}
	beaten() // before it is closed
	close(failed)
	for err := range failed {
		t.Error(err)
	}
}
