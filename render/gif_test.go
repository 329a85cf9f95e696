package render

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"slices"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Every frame of an animation shows, laid over those before it, what the
// picture of its scene shows; the last is held.
func TestGIF(t *testing.T) {
	for _, x := range []struct {
		g *rules.Game
		o Options
	}{
		{random(t, "button", 19, 19, 60, 7), Options{Size: "small"}},
		{play(t, "two-button", k(9, 9, 13), e1+"pass pass dead:J8,J2 agree"), Options{Theme: "book", Size: "small"}},
		{random(t, "ultimate", 9, 9, 150, 7), Options{Theme: "slate", Panel: "light", Size: "small"}},
	} {
		scenes := slices.Collect(Scenes(x.g, Names{"Aoi", "Marten"}, 20, 1000))
		if race {
			scenes = scenes[:10]
		}
		if len(scenes) < 10 {
			t.Fatalf("%d scenes", len(scenes))
		}
		var b bytes.Buffer
		if err := GIF(&b, slices.Values(scenes), x.o, 300, 4000); err != nil {
			t.Fatal(err)
		}
		all, err := gif.DecodeAll(&b)
		if err != nil {
			t.Fatal(err)
		}
		if len(all.Image) != len(scenes) || all.LoopCount != 0 {
			t.Fatalf("%d frames, %d scenes, loop %d", len(all.Image), len(scenes), all.LoopCount)
		}
		screen := image.NewPaletted(image.Rect(0, 0, all.Config.Width, all.Config.Height), nil)
		for i, frame := range all.Image {
			for y := frame.Rect.Min.Y; y < frame.Rect.Max.Y; y++ {
				for x := frame.Rect.Min.X; x < frame.Rect.Max.X; x++ {
					if v := frame.ColorIndexAt(x, y); v != asBefore || i == 0 {
						screen.SetColorIndex(x, y, v)
					}
				}
			}
			want, err := imageOf(scenes[i], x.o)
			if err != nil {
				t.Fatal(err)
			}
			screen.Palette = want.Palette
			if !bytes.Equal(screen.Pix, want.Pix) {
				_, diff := compare(want, screen)
				t.Fatalf("frame %d differs; see %s", i, saved(t, "frame", diff))
			}
			for j, c := range want.Palette {
				if all.Config.ColorModel.(color.Palette)[j] != c {
					t.Fatalf("frame %d: colour %d is %v, want %v", i, j, all.Config.ColorModel.(color.Palette)[j], c)
				}
			}
			if _, _, _, a := frame.Palette[asBefore].RGBA(); i > 0 && a != 0 {
				t.Fatalf("frame %d covers what it should leave", i)
			}
			delay := 30
			if i == len(scenes)-1 {
				delay = 400
			}
			if all.Delay[i] != delay || all.Disposal[i] != gif.DisposalNone {
				t.Fatalf("frame %d: delay %d, disposal %d", i, all.Delay[i], all.Disposal[i])
			}
		}
	}
}

// A whole game fits into a message.
func TestGIFIsSmall(t *testing.T) {
	if race {
		return
	}
	var b bytes.Buffer
	if err := GIF(&b, Scenes(longGame(t, "two-button"), Names{"Aoi", "Marten"}, 0, 250), Options{}, 300, 3000); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 3_000_000 {
		t.Errorf("%d bytes for 250 turns", b.Len())
	}
}

func TestScenes(t *testing.T) {
	g := play(t, "aga", k(9, 9, 15), e1+"pass pass dead:J8,J2 agree")
	for _, x := range []struct{ first, last, want, from, to int }{
		{0, 1000, g.Turns() + 1, 0, g.Turns()}, {1, 3, 3, 1, 3}, {-5, 0, 1, 0, 0}, {g.Turns(), g.Turns(), 1, g.Turns(), g.Turns()}, {99, 100, 0, 0, 0}, {4, 2, 0, 0, 0},
	} {
		all := slices.Collect(Scenes(g, Names{}, x.first, x.last))
		if len(all) != x.want || x.want > 0 && (all[0].Move != x.from || all[len(all)-1].Move != x.to) {
			t.Errorf("%d to %d: %d scenes", x.first, x.last, len(all))
		}
	}
	all := slices.Collect(Scenes(g, Names{}, 0, 1000))
	if last := all[len(all)-1]; last.Result == "" || len(last.Dead) != 2 {
		t.Errorf("the last scene is not the end: %+v", last)
	}
	for range Scenes(g, Names{}, 0, 10) {
		break // which a caller may
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestGIFErrors(t *testing.T) {
	if err := GIF(&bytes.Buffer{}, slices.Values([]Scene{}), Options{}, 1, 1); err == nil {
		t.Error("nothing was animated")
	}
	one := Scene{Board: []string{"X"}}
	if err := GIF(&bytes.Buffer{}, slices.Values([]Scene{one, {}}), Options{}, 1, 1); err == nil {
		t.Error("a scene that cannot be drawn was")
	}
	if err := GIF(broken{}, slices.Values([]Scene{one, one}), Options{}, 1, 1); err == nil {
		t.Error("written nowhere")
	}
	// Boards may change size on the way; delays may be anything.
	if err := GIF(&bytes.Buffer{}, slices.Values([]Scene{one, {Board: []string{"..", ".."}}}), Options{}, -1, 1<<30); err != nil {
		t.Error(err)
	}
}

func BenchmarkGIF(b *testing.B) {
	g := longGame(b, "two-button")
	scenes := slices.Collect(Scenes(g, Names{"Aoi", "Marten"}, 0, 250))
	for _, o := range []Options{{}, {Size: "small"}} {
		b.Run(o.Size, func(b *testing.B) {
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				if err := GIF(&out, slices.Values(scenes), o, 300, 3000); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(out.Len()), "GIF-bytes")
		})
	}
}
