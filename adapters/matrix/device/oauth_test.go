package device

import (
	"context"
	"errors"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/retry"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// browser is a bot's account that is managed in the browser, without a password.
type browser struct {
	*setup
	server   *matrixtest.Server
	proxy    *matrixtest.Proxy
	accounts *matrixtest.Accounts
}

func newBrowser(t *testing.T, server *matrixtest.Server) *browser {
	user := server.Register(t, "Bot")
	b := &browser{server: server, proxy: server.Proxy(t)}
	b.accounts = b.proxy.Accounts(t, user)
	b.setup = account(t, server, b.proxy.URL, user)
	b.Password = secret.Text{}
	return b
}

// code is the newest code that the log shows.
func (b *browser) code() string {
	b.t.Helper()
	all := regexp.MustCompile(`address=\S+/link code=(\S+) `).FindAllStringSubmatch(b.log.String(), -1)
	if len(all) == 0 {
		b.t.Fatal("the log shows no code")
	}
	return all[len(all)-1][1]
}

// logsIn opens the database and the device, which waits for its owner until they answer.
func (b *browser) logsIn(answer func()) (d *Device, err error) {
	b.t.Helper()
	b.openDB()
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		d, err = Open(ctx, b.Config)
	}()
	time.Sleep(time.Second)
	synctest.Wait()
	select {
	case <-opened:
		b.t.Fatalf("opened without a login: %v", err)
	default:
	}
	answer()
	<-opened
	return d, err
}

// lets lets the bot in.
func (b *browser) lets() *Device {
	b.t.Helper()
	d, err := b.logsIn(func() { b.accounts.Approve(b.code(), "") })
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

// asks says how often the log has asked for a login.
func (b *browser) asks() int { return strings.Count(b.log.String(), "waiting for a login") }

// Without a password the bot asks its owner to log it in, once; its login is renewed
// while it runs and over restarts.
func TestLogInByBrowser(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		b := newBrowser(t, server)
		b.openDB()
		b.finds("accounts log in through the browser: start halfpoint")
		asked := 0
		b.Waiting = func(context.Context) { asked++ }
		d := b.lets()
		if d.Client.UserID != b.user.ID || !d.New || asked != 1 {
			t.Errorf("logged in as %s, new %v, asked %d times", d.Client.UserID, d.New, asked)
		}
		signed(t, d)
		first := d.Client.DeviceID
		for range 3 { // longer than an access token lasts, and longer than the bot was away
			time.Sleep(7 * time.Minute)
			if _, err := d.Client.JoinedRooms(ctx); err != nil {
				t.Fatal(err)
			}
		}
		b.proxy.Once(matrixtest.On("GET", "/joined_rooms$"), matrixtest.UnknownToken(true)) // the homeserver's clock is ahead
		if _, err := d.Client.JoinedRooms(ctx); err != nil {
			t.Errorf("a token that is over early: %v", err)
		}
		b.finds("logged in as " + b.user.ID.String() + " with the device of the last time")
		b.stops(d)
		time.Sleep(30 * 24 * time.Hour)
		b.openDB()
		b.finds("logged in as " + b.user.ID.String() + " through the browser; the token must be renewed")
		d = b.starts()
		if d.New || d.Client.DeviceID != first || b.asks() != 1 {
			t.Errorf("device %s, new %v, after %d codes; want %s", d.Client.DeviceID, d.New, b.asks(), first)
		}
		b.stops(d)
		kill(b.starts())
		b.stays(b.starts())
		only(t, b.devices(server), first)
		for _, secret := range []string{"access-", "refresh-", "code-"} {
			if strings.Contains(b.log.String(), secret+"bot") {
				t.Errorf("the log shows a secret, %s…", secret)
			}
		}
	})
}

// The owner takes long, refuses, or logs in as somebody else; the homeserver fails
// meanwhile, asks for patience, or has forgotten the bot.
func TestLogInByBrowserLater(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, b *browser){
		"after the code is over": func(t *testing.T, b *browser) {
			d, err := b.logsIn(func() {
				first := b.code()
				time.Sleep(50 * time.Minute)
				if b.asks() != 3 || b.code() == first {
					t.Errorf("in 50 minutes %d codes of 20 each", b.asks())
				}
				b.accounts.Approve(b.code(), "")
			})
			if err != nil {
				t.Fatal(err)
			}
			b.stops(d)
		},
		"refused": func(t *testing.T, b *browser) {
			if _, err := b.logsIn(func() { b.accounts.Approve(b.code(), "access_denied") }); err == nil || !strings.Contains(err.Error(), "refused in the browser") {
				t.Error(err)
			}
		},
		"while the server has trouble": func(t *testing.T, b *browser) {
			tokens := matrixtest.On("POST", "/oauth2/token$")
			d, err := b.logsIn(func() {
				b.proxy.Once(tokens, matrixtest.Fails(502, ""))
				b.proxy.Once(tokens, matrixtest.Cuts())
				b.proxy.Once(tokens, matrixtest.TooMany(2*time.Minute))
				time.Sleep(time.Minute)
				b.accounts.Approve(b.code(), "")
			})
			if err != nil || b.asks() != 1 {
				t.Fatalf("%d codes: %v", b.asks(), err)
			}
			b.stops(d)
		},
		"known no more": func(t *testing.T, b *browser) {
			b.stops(b.lets())
			b.accounts.End("")
			b.accounts.ForgetClients()
			d := b.lets()
			if !d.New {
				t.Error("an ended device is used again")
			}
			b.stops(d)
		},
		"as somebody else": func(t *testing.T, b *browser) {
			b.User = "@other:" + matrixtest.Name
			ctx, stop := context.WithCancel(ctx)
			_, err := b.logsIn(func() {
				b.accounts.Approve(b.code(), "")
				time.Sleep(10 * time.Second)
				if log := b.log.String(); b.asks() != 2 || !strings.Contains(log, "somebody else has logged in") {
					t.Errorf("%d codes\n%s", b.asks(), log)
				}
				b.accounts.Approve(b.code(), "access_denied")
			})
			stop()
			if err == nil || len(b.devices(b.server)) != 0 {
				t.Errorf("devices that are left: %v; %v", b.devices(b.server), err)
			}
			_ = ctx
		},
		"with a password that has no effect": func(t *testing.T, b *browser) {
			b.Password = secret.New("of before the homeserver was changed")
			b.finds("accounts log in through the browser")
			b.stops(b.lets())
			if !strings.Contains(b.log.String(), "matrix.password has no effect") {
				t.Error("the log does not say so")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				b := newBrowser(t, server)
				b.openDB()
				test(t, b)
			})
		})
	}
}

// idles lets time pass in which the device asks nothing, not even to say that it lives.
func idles(d *Device, wait time.Duration) {
	d.stop()
	<-d.done
	time.Sleep(wait)
}

// New tokens are stored before they are used. When the program ends between the answer and
// the disk, the next start goes on if the homeserver takes the token of before, and asks for
// a new login if not.
func TestRenewalAndCrash(t *testing.T) {
	for forgets, want := range map[bool]int{false: 1, true: 2} {
		matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
			b := newBrowser(t, server)
			b.accounts.Forgets = forgets
			d := b.lets()
			first := d.Client.DeviceID
			idles(d, 7*time.Minute)
			b.proxy.Once(matrixtest.On("POST", "/oauth2/token$"), func(x *matrixtest.Exchange) {
				x.W = httptest.NewRecorder() // the answer gets lost
				x.Pass()
				x.Cut()
			})
			if _, err := d.Client.JoinedRooms(ctx); err == nil || LoggedOut(err) {
				t.Fatalf("with the lost answer: %v", err)
			}
			kill(d)
			if want == 1 {
				d = b.starts()
			} else {
				d = b.lets()
			}
			if b.asks() != want || (d.Client.DeviceID == first) != (want == 1) {
				t.Errorf("the homeserver takes a token once: %v; %d codes, device %s, before %s", forgets, b.asks(), d.Client.DeviceID, first)
			}
			signed(t, d)
			b.stops(d)
		})
	}
}

// A homeserver need not say how long a token lasts: it is used until the homeserver
// refuses it.
func TestTokenOfUnknownLife(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		b := newBrowser(t, server)
		tokens := matrixtest.On("POST", "/oauth2/token$")
		b.proxy.Times(1000, tokens, func(x *matrixtest.Exchange) {
			w, answer := x.W, httptest.NewRecorder()
			x.W = answer
			x.Pass()
			x.W = w
			x.Say(answer.Code, "application/json", regexp.MustCompile(`"expires_in":\d+,`).ReplaceAllString(answer.Body.String(), ""))
		})
		d := b.lets()
		first := d.Client.DeviceID
		b.proxy.Forget()
		for range 2 {
			for range 3 {
				if _, err := d.Client.JoinedRooms(ctx); err != nil {
					t.Fatal(err)
				}
			}
			b.stops(d)
			d = b.starts()
		}
		if n := len(b.proxy.Requests(tokens)); n != 0 {
			t.Errorf("renewed %d times while the token was good", n)
		}
		idles(d, 7*time.Minute)
		b.finds("the token must be renewed")
		if _, err := d.Client.JoinedRooms(ctx); err != nil || d.Client.DeviceID != first {
			t.Errorf("once the token is over: %s, %v", d.Client.DeviceID, err)
		}
		if n := len(b.proxy.Requests(tokens)); n != 1 {
			t.Errorf("renewed %d times after the token was over", n)
		}
		b.stops(d)
	})
}

// Tokens that cannot be stored are not used, but kept until they can be.
func TestRenewalNotStored(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		b := newBrowser(t, server)
		b.accounts.Forgets = true // so the token of before is worth nothing
		d := b.lets()
		idles(d, 7*time.Minute)
		b.proxy.Forget()
		if _, err := b.raw.Exec("CREATE TRIGGER full BEFORE INSERT ON matrix_device BEGIN SELECT RAISE(FAIL, 'disk full'); END"); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Client.JoinedRooms(ctx); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Fatalf("without a place for the tokens: %v", err)
		}
		if asked := b.proxy.Requests(matrixtest.On("GET", "/joined_rooms$")); len(asked) != 0 {
			t.Errorf("tokens were used that are not stored: %v", asked)
		}
		if _, err := b.raw.Exec("DROP TRIGGER full"); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Client.JoinedRooms(ctx); err != nil {
			t.Fatal(err)
		}
		b.stays(d)
	})
}

// A renewal without an answer delays all requests once, and each no longer than it has time.
// Tokens that come after the request was given up are stored all the same.
func TestRenewalHangs(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		b := newBrowser(t, server)
		b.accounts.Forgets = true
		d := b.lets()
		renewals := matrixtest.On("POST", "/oauth2/token$")
		ask := func(limit time.Duration) time.Duration {
			limited, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			began := time.Now()
			if _, err := d.Client.JoinedRooms(limited); err == nil || LoggedOut(err) {
				t.Errorf("without new tokens: %v", err)
			}
			return time.Since(began)
		}
		idles(d, 7*time.Minute)
		b.proxy.Once(renewals, func(x *matrixtest.Exchange) { <-x.R.Context().Done() })
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if took := ask(5 * time.Minute); took > renewFor {
					t.Errorf("beside others it took %v", took)
				}
			})
			all.Go(func() {
				if took := ask(2 * time.Second); took > 2*time.Second {
					t.Errorf("with two seconds it took %v", took)
				}
			})
		}
		all.Wait()
		b.proxy.Once(renewals, func(x *matrixtest.Exchange) { time.Sleep(10 * time.Second); x.Pass() })
		if took := ask(2 * time.Second); took > 2*time.Second {
			t.Errorf("with two seconds it took %v", took)
		}
		err := d.Close() // waits for the tokens
		if err == nil {
			t.Error("the generation was saved without a token")
		}
		b.stops(b.starts())
		if b.asks() != 1 {
			t.Errorf("%d codes", b.asks())
		}
	})
}

// While the start deletes an old device, tokens may be renewed for requests in the
// background. Neither undoes what the other has stored.
func TestRenewalWhileStarting(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		b := newBrowser(t, server)
		d := b.lets()
		if err := d.change(ctx, func(r *row) { r.replaced = []id.DeviceID{"GONE"} }); err != nil {
			t.Fatal(err)
		}
		idles(d, time.Until(d.tokens.expires)-renewBefore-time.Second)
		b.proxy.Once(matrixtest.On("GET", "/devices/GONE$"), func(x *matrixtest.Exchange) {
			time.Sleep(5 * time.Second)
			matrixtest.Fails(404, "M_NOT_FOUND")(x)
		})
		var both sync.WaitGroup
		both.Go(func() { d.deleteReplaced(ctx) })
		both.Go(func() {
			time.Sleep(5 * time.Second)
			if _, err := d.Client.JoinedRooms(ctx); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		if row, err := readRow(ctx, b.DB); err != nil || len(row.replaced) != 0 || row.tokens != d.tokens {
			t.Errorf("stored: %v, devices to delete %v, the newest tokens %v", err, row.replaced, row.tokens == d.tokens)
		}
		b.stays(d)
	})
}

// A homeserver that lets the bot wait with new tokens says for how long.
func TestRenewalTooOften(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		b := newBrowser(t, server)
		d := b.lets()
		idles(d, 7*time.Minute)
		b.proxy.Once(matrixtest.On("POST", "/oauth2/token$"), matrixtest.TooMany(2*time.Minute))
		if _, err := d.Client.JoinedRooms(ctx); retry.After(err) != 2*time.Minute {
			t.Errorf("wait %v: %v", retry.After(err), err)
		}
		b.stays(d)
	})
}

// A homeserver whose codes are over at once, or which forgets each registration, is not
// asked without a pause.
func TestLoginLoops(t *testing.T) {
	for name, fault := range map[string]matrixtest.Fault{
		"codes": func(x *matrixtest.Exchange) {
			x.Say(200, "application/json", `{"device_code":"code","user_code":"WDJB","verification_uri":"https://example.org/link","expires_in":0}`)
		},
		"registrations": func(x *matrixtest.Exchange) { x.Say(401, "application/json", `{"error":"invalid_client"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				b := newBrowser(t, server)
				b.proxy.Times(1000, matrixtest.On("POST", "/oauth2/device$"), fault)
				b.openDB()
				limited, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				many, stop := context.WithCancel(limited)
				b.Waiting = func(context.Context) {
					if b.asks() > 100 {
						stop()
					}
				}
				b.proxy.Times(1000, matrixtest.On("POST", "/oauth2/registration$"), func(x *matrixtest.Exchange) {
					if len(b.proxy.Requests(matrixtest.On("POST", "/oauth2/registration$"))) > 100 {
						stop()
					}
					x.Pass()
				})
				if _, err := Open(many, b.Config); err == nil || limited.Err() == nil {
					t.Errorf("more than 100 tries in an hour: %v", err)
				}
			})
		})
	}
}

// An old copy of the database asks for a new login, and the device of the newer one goes
// if the homeserver lets it.
func TestOldLoginPutBack(t *testing.T) {
	if !e2ee.Available {
		t.Skip("an old copy is known by its keys")
	}
	for name, between := range map[string]time.Duration{"soon": time.Second, "after a renewal": time.Hour} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				b := newBrowser(t, server)
				b.stops(b.lets())
				old := b.copies()
				d := b.starts()
				first := d.Client.DeviceID
				time.Sleep(between)
				if _, err := d.Client.JoinedRooms(ctx); err != nil {
					t.Fatal(err)
				}
				b.stops(d)
				b.puts(old)
				b.RecoveryKey = d.Recovery
				d = b.lets()
				if !d.New || d.Client.DeviceID == first || b.asks() != 2 {
					t.Errorf("device %s, new %v, after %d codes", d.Client.DeviceID, d.New, b.asks())
				}
				signed(t, d)
				b.stays(d)
				if between == time.Second {
					only(t, b.devices(server), d.Client.DeviceID)
				}
			})
		})
	}
}

// A login that ends while the bot runs is told at once: requests are not repeated for ever.
func TestLoginEnds(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		b := newBrowser(t, server)
		d := b.lets()
		for _, later := range []time.Duration{time.Second, time.Hour} { // before and after the access token is over
			b.accounts.End("")
			time.Sleep(later)
			begin := time.Now()
			if _, err := d.Client.JoinedRooms(ctx); !LoggedOut(err) {
				t.Errorf("the error does not say so: %v", err)
			}
			if took := time.Since(begin); took > time.Second {
				t.Errorf("it took %v", took)
			}
		}
		_ = d.Close()
		b.stops(b.lets())
	})
}

// A homeserver without such logins needs a password.
func TestNoLogin(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		const want = "matrix.password: missing, and the homeserver offers programs no login"
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		s.Password = secret.Text{}
		s.fails(want)
		if _, err := Check(ctx, s.Config, nil); !errors.Is(err, errNoGrant) {
			t.Error(err)
		}
		b := newBrowser(t, server)
		b.proxy.Always(matrixtest.On("GET", "/auth_metadata$"), matrixtest.Fails(500, "M_UNKNOWN")) // too late: the service's own comes first
		for from, to := range map[string]string{`"urn:ietf:params:oauth:grant-type:device_code"`: `"implicit"`} {
			b.proxy.Once(matrixtest.On("GET", "/auth_metadata$"), func(x *matrixtest.Exchange) {
				x.Say(200, "application/json", strings.ReplaceAll(`{"grant_types_supported":["urn:ietf:params:oauth:grant-type:device_code"]}`, from, to))
			})
			b.fails(want)
		}
		b.proxy.Once(matrixtest.On("GET", "/auth_metadata$"), func(x *matrixtest.Exchange) {
			x.Say(200, "application/json", `{"grant_types_supported":["urn:ietf:params:oauth:grant-type:device_code"],"device_authorization_endpoint":"http://example.org/device"}`)
		})
		b.fails("matrix.homeserver: ")
	})
}
