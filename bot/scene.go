package bot

import (
	"context"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
)

// scene draws a match in the words of a language.
func (b *Bot) scene(ctx context.Context, m match.Match, p *match.Position, l *text.Language, look render.Options) (render.Scene, error) {
	who, err := b.rooms.People(ctx, m.Black, m.White)
	if err != nil {
		return render.Scene{}, err
	}
	return b.draw(ctx, m, p, l, who, look), nil
}

// at returns a match, and its position as it was after event seq.
func (b *Bot) at(ctx context.Context, id match.GameID, seq int) (match.Match, *match.Position, error) {
	m, err := b.store.Header(ctx, id)
	if err != nil {
		return m, nil, err
	}
	p, err := b.position(ctx, m, seq)
	return m, p, err
}

// draw returns the scene of a match whose players are known.
func (b *Bot) draw(ctx context.Context, m match.Match, p *match.Position, l *text.Language, who map[match.PersonID]outbox.User, look render.Options) render.Scene {
	names := render.Names{Black: seatName(l, m.Black, who), White: seatName(l, m.White, who)}
	if m.State == match.Sandbox { // one person plays both colours
		names = render.Names{}
	}
	about := b.estimate(ctx, m, p)
	return b.cache.scene(m.ID, p, sceneKey{l.Tag, names, look, about}, func() render.Scene {
		scene := l.PictureWords().Of(p.Final(), names)
		if p.Result != "" {
			scene = scene.Ended(p.Result, l.Say(text.Sentence(p.Why)))
		}
		if about.some {
			scene = scene.Estimated(about.margin)
		}
		if p.Branch > 0 && !p.Over() {
			scene = scene.Trial()
		}
		if m.State == match.Sandbox {
			scene = scene.Position()
		}
		scene.Look, scene.Series = look, string(m.ID)
		return scene
	})
}
