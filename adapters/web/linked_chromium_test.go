//go:build goolm

package web

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"go.mau.fi/util/dbutil"
	mx "maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/discord"
	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/secret"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// follows presses something that leads to another page.
func (p *tab) follows(what string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, tier.Patience(p.t))
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.WaitEvent(cdp.LoadEventFired, nil, chromedp.Click(chromedp.CSS(what)))); err != nil {
		p.t.Fatalf("%v: pressing %s", err, what)
	}
}

// Alice plays on Discord, and Anna on Matrix. Each opens the address that she got there in a
// browser, and makes a turn on the page of her game, which the others see as usual. Somebody
// else watches, and has a name of the room in two browsers. Alice signs out on the page; Anna
// ends it on Matrix.
func TestLinkedInChromium(t *testing.T) {
	tier.Change(t)
	st := openStore(t, newFile(t))
	r := newRoom(st)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.cfg.Open = func(string, string) (net.Listener, error) { return listener, nil }

	guild := discordtest.New(t, discordtest.Options{Limits: discordtest.NoLimits(), Patience: tier.Patience(t)})
	channel := guild.Guild("Go club").Channel("games")
	alice, bob := guild.Guild("Go club").Member("Alice"), guild.Guild("Go club").Member("Bob")
	connected := make(chan string, 100)
	da, err := discord.New(discord.Config{Token: secret.New(guild.Token()), API: guild.API(), Ready: func(address string) { connected <- address }})
	if err != nil {
		t.Fatal(err)
	}

	home := matrixtest.InMemory(t, matrixtest.Options{Real: true})
	anna, carl, halfpoint := home.Player(t, "Anna"), home.Player(t, "Carl"), home.Register(t, "Halfpoint")
	raw, err := st.OpenAdapterDB("matrix", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	db, err := dbutil.NewWithDB(raw, "sqlite3")
	if err != nil {
		t.Fatal(err)
	}
	reading := make(chan string, 1)
	ma, err := matrix.New(matrix.Config{Homeserver: home.URL, Dial: home.Dial, User: halfpoint.ID.String(), Password: secret.New(halfpoint.Password), DB: db,
		Rate: matrix.Unlimited, Burst: matrix.Unlimited, Settle: time.Millisecond, Slow: time.Minute, Ready: func(user string) { reading <- user }})
	if err != nil {
		t.Fatal(err)
	}

	b := bot.New(st, bot.Config{PublicURL: "http://" + listener.Addr().String(), Pages: map[string]match.Pages{discord.Name: match.LinkPages, matrix.Name: match.LinkPages}})
	url, _ := listen(t, r, func(ctx context.Context) error { return b.Run(ctx, r, da, ma) })
	<-connected
	<-reading
	if !guild.WaitCommands(1) {
		t.Fatal("no commands on Discord")
	}

	// Their games.
	alice.Slash(channel, "new", discordtest.Opt("rules", "aga"), discordtest.Opt("size", "5x5"), discordtest.Opt("color", "black")).First()
	channel.Wait(func(ms []*discordtest.Message) bool { return len(ms) > 0 }) // where the answer took long, this one is for everybody
	bob.Press(channel.Last(), "Join").First()
	thread := channel.WaitThread(0)
	games := map[string]string{"Alice": pathOf(t, st)}
	at := anna.Makes(matrixtest.Room{Name: "Go club", Invite: []mx.UserID{halfpoint.ID}})
	anna.Await(at, "the bot", func(v matrixtest.View) bool { return v.Members[halfpoint.ID] == "join" })
	anna.Invites(at, carl.ID)
	carl.AwaitInvite(at)
	carl.Joins(at)
	says := func(what string) func(*matrixtest.Message) bool {
		return func(m *matrixtest.Message) bool { return strings.Contains(m.Text(), what) }
	}
	anna.Says(at, "!new aga 5x5 color:black")
	carl.AwaitMessage(at, halfpoint.ID, "the challenge", says("!join"))
	carl.Says(at, "!join")
	anna.AwaitMessage(at, halfpoint.ID, "her turn", says("Anna to play"))
	games["Anna"] = pathOf(t, st)

	// Their addresses.
	alone := anna.Makes(matrixtest.Room{Direct: true, Invite: []mx.UserID{halfpoint.ID}})
	anna.Await(alone, "the bot", func(v matrixtest.View) bool { return v.Members[halfpoint.ID] == "join" })
	anna.Says(alone, "!link")
	address := func(text string) string {
		t.Helper()
		found := secretIn.FindString(text)
		if found == "" {
			t.Fatalf("no address in %q", text)
		}
		return url + found
	}
	private := alice.Slash(channel, "go link").Answer()
	if private.To != alice.Name() {
		t.Errorf("%q may read Alice's address", private.To)
	}
	carl.Says(at, "!link") // where others read
	carl.AwaitMessage(at, halfpoint.ID, "that it is elsewhere", says("sent it to you directly"))
	if seen := carl.Sees(at); strings.Contains(seen, "/link#") {
		t.Errorf("others read Carl's address\n%s", seen)
	}
	tabs := map[string]*tab{}
	for who, link := range map[string]string{
		"Alice": address(private.Content),
		"Anna":  address(anna.AwaitMessage(alone, halfpoint.ID, "the address", says("/link#")).Text()),
	} {
		p := blankTab(t, chromium(t))
		tabs[who] = p
		p.do(chromedp.Navigate(link))
		p.wait(`document.querySelector('#link button').textContent.startsWith(%q)`, "Continue as "+who)
		if now := get[string](p, `location.href`); now != url+"/link" {
			t.Errorf("the address bar shows %s", now)
		}
		p.follows("#link button")
		p.follows(fmt.Sprintf("#linked a[href=%q]", games[who]))
		p.wait(`document.querySelector('#play[data-stone=b]')`)
		p.do(chromedp.Click(chromedp.CSS("[data-point=C3]")))
		p.wait(`document.querySelector('.line').textContent.startsWith('1. Black C3')`)
	}

	// The others see it, and go on where they are.
	watcher := blankTab(t, chromium(t))
	watcher.do(chromedp.Navigate(url + games["Alice"]))
	watcher.wait(`document.querySelector('.line').textContent.startsWith('1. Black C3') && !document.querySelector('#play')`)
	if !thread.Wait(func(ms []*discordtest.Message) bool { return strings.Contains(ms[len(ms)-1].Content, "Black C3") }) {
		t.Errorf("Discord shows\n%s", guild.Transcript())
	}
	carl.AwaitMessage(at, halfpoint.ID, "her move", says("Black C3"))
	bob.Slash(thread, "place", discordtest.Opt("at", "D3")).First()
	for _, p := range []*tab{tabs["Alice"], watcher} {
		p.wait(`document.querySelector('.line').textContent.startsWith('2. White D3')`)
	}

	// The page of somebody who is linked has room on a small phone.
	p := tabs["Alice"]
	p.do(chromedp.EmulateViewport(360, 560))
	if end, wide := get[float64](p, `document.querySelector('#play').getBoundingClientRect().bottom`), get[int](p, `document.documentElement.scrollWidth`); end > 560 || wide > 360 {
		t.Errorf("on a phone the page is %d wide, and what a turn needs ends at %.0f", wide, end)
	}

	// Both end it.
	if !alice.DM().Wait(func(ms []*discordtest.Message) bool { return len(ms) == 1 }) || !strings.Contains(alice.DM().Last().Content, "is now you") {
		t.Errorf("Alice is told\n%s", guild.Transcript())
	}
	p.follows(".out button")
	p.wait(`!document.querySelector('.out, #play') && location.pathname === %q`, games["Alice"])
	_, end, _ := strings.Cut(anna.AwaitMessage(alone, halfpoint.ID, "what her browser is", says("is now you")).Text(), "!link ")
	anna.Says(alone, "!link "+strings.Fields(end)[0])
	anna.AwaitMessage(alone, halfpoint.ID, "the end", says("is signed out"))
	p = tabs["Anna"]
	p.do(chromedp.Click(chromedp.CSS("[data-command=resign]")))
	p.wait(`document.querySelector('#answer').textContent.startsWith('This browser is signed out')`)

	// In the room the one who watched takes a name, and goes on with it in another browser.
	watcher.do(chromedp.Navigate(url))
	watcher.wait(`document.querySelector('#log').getAttribute('aria-busy') === 'false'`)
	get[bool](watcher, `document.querySelector('#name').value = 'Ada', true`)
	watcher.sit("name")
	watcher.say("/link")
	watcher.told("Open this address")
	p.do(chromedp.Navigate(address(get[string](watcher, lastMessage+`.innerText`))))
	p.follows("#link button")
	p.wait(`document.querySelector('#log')?.getAttribute('aria-busy') === 'false' && document.querySelector('#seat').value === 'name' && document.querySelector('#name').value === 'Ada'`)
	p.say("/games mine")
	p.told("There are no games here")
}
