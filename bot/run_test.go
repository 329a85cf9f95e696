package bot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
)

// A guest is a platform of some name that runs as the test says.
type guest struct {
	*channel
	name string
	run  func(ctx context.Context) error
}

func (g *guest) Name() string                                 { return g.name }
func (g *guest) Run(ctx context.Context, _ bot.Service) error { return g.run(ctx) }

// A platform that fails is away, and the others run on until they are told to stop. When
// all have failed nothing is left to run.
func TestOnePlatformFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t)
		wrong := errors.New("the password is wrong")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		fails := &guest{newChannel(), "fails", func(context.Context) error { return wrong }}
		lives := &guest{newChannel(), "lives", func(ctx context.Context) error {
			synctest.Wait()
			if ctx.Err() != nil {
				t.Error("the failure of one platform ended the other")
			}
			outages, err := k.store.Outages(t.Context())
			must(t, err)
			if !slices.ContainsFunc(outages, func(o rooms.Outage) bool { return o.Platform == "fails" }) {
				t.Errorf("the platform that failed is not away: %v", outages)
			}
			stop()
			return ctx.Err()
		}}
		must(t, k.bot.Run(ctx, fails, lives))

		other := &guest{newChannel(), "other", func(context.Context) error { return errors.New("so is this one") }}
		err := k.bot.Run(t.Context(), fails, other)
		if !errors.Is(err, wrong) || !strings.Contains(err.Error(), "other: so is this one") {
			t.Errorf("after all have failed: %v", err)
		}
	})
}
