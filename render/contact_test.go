package render

import (
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/draw"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

var (
	contact      = flag.String("contact", "", "write a sheet of pictures of everything to this file, or single pictures into this folder")
	contactWidth = flag.Int("contact.width", 509, "of each picture, in pixels")
	contactPlan  = flag.String("contact.layout", "", "one of Layouts")
	contactOnly  = flag.String("contact.only", "", "pictures whose name contains this")
)

// TestContactSheet writes a sheet to look at:
//
//	go test ./render -run ContactSheet -contact sheet.png
//
// Without -contact it draws everything all the same, in the change tier.
func TestContactSheet(t *testing.T) {
	if *contact == "" {
		tier.Change(t)
	}
	var all []image.Image
	for _, c := range allCases(t) {
		if !strings.Contains(c.name, *contactOnly) {
			continue
		}
		if *contact == "" {
			c.o.Size = "small"
		}
		if *contactPlan != "" {
			c.o.Layout = *contactPlan
		}
		img, err := imageOf(c.scene, c.o)
		if err != nil {
			t.Fatal(c.name, err)
		}
		all = append(all, img)
		if info, err := os.Stat(*contact); err == nil && info.IsDir() {
			writePNG(t, filepath.Join(*contact, strings.ReplaceAll(c.name, " ", "-")+".png"), img)
		}
	}
	if *contact == "" || len(all) == 0 {
		return
	}
	if info, err := os.Stat(*contact); err == nil && info.IsDir() {
		return
	}
	const across, gap = 6, 8
	w := *contactWidth
	h := w * all[0].Bounds().Dy() / all[0].Bounds().Dx()
	down := (len(all) + across - 1) / across
	sheet := image.NewRGBA(image.Rect(0, 0, across*(w+gap)+gap, down*(h+gap)+gap))
	draw.Draw(sheet, sheet.Rect, image.NewUniform(color.Gray{0x40}), image.Point{}, draw.Src)
	for i, img := range all {
		x, y := gap+i%across*(w+gap), gap+i/across*(h+gap)
		draw.CatmullRom.Scale(sheet, image.Rect(x, y, x+w, y+h), img, img.Bounds(), draw.Src, nil)
	}
	writePNG(t, *contact, sheet)
}

func writePNG(t testing.TB, file string, img image.Image) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
}
