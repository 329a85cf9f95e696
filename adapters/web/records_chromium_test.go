package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// The message box takes several lines. Records come by paste, drop or file, up to two
// megabytes and in any encoding; one that is longer is refused, and what was typed stays.
func TestRecordsInChromium(t *testing.T) {
	tier.Change(t)
	p := openTab(t, chromium(t), openWholeBot(t))
	p.sit("black")
	value := func(want string) {
		t.Helper()
		p.wait(`document.querySelector('#message').value === %q`, want)
	}
	// shown waits for one more board, with a row of it in words.
	boards := 0
	shown := func(row string) {
		t.Helper()
		boards++
		p.wait(`document.querySelectorAll('#log pre').length === %d && !document.querySelector('#outbox').childElementCount`, boards)
		if words := get[string](p, `[...document.querySelectorAll('#log pre')].at(-1).textContent`); !strings.Contains(words, row) {
			t.Errorf("no %q in %s", row, words)
		}
	}
	// give pastes or drops a text, or a file if it has a name.
	give := func(event, name, text string) {
		t.Helper()
		get[bool](p, fmt.Sprintf(`(() => {
			const data = new DataTransfer(), box = document.querySelector('#message');
			if (%[2]q) data.items.add(new File([%[3]s], %[2]q)); else data.setData('text/plain', %[3]s);
			return box.dispatchEvent(%[1]q === 'paste' ? new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})
				: new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));
		})()`, event, name, text))
	}

	// Shift+Enter breaks the line, Enter sends; the arrows go through the lines.
	p.do(chromedp.Focus(chromedp.CSS("#message")), chromedp.KeyEvent("/show"))
	for _, line := range []string{".X.", ".XO", "..."} {
		p.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierShift)), chromedp.KeyEvent(line))
	}
	value("/show\n.X.\n.XO\n...")
	p.wait(`document.querySelector('#message').getBoundingClientRect().height > 80`)
	p.do(chromedp.KeyEvent(kb.ArrowUp))
	value("/show\n.X.\n.XO\n...")
	p.do(chromedp.KeyEvent(kb.Enter))
	value("")
	p.wait(`document.querySelector('#message').getBoundingClientRect().height < 60`)
	shown(". X O")

	// A diagram that is pasted into the empty box is to be shown.
	diagram := "....\n.XO.\n....\n...."
	give("paste", "", fmt.Sprintf("%q", diagram))
	value("/show " + diagram)
	p.do(chromedp.KeyEvent(kb.Enter))
	shown(". X O .")

	// Talk is not, though it has letters and signs of a diagram.
	for _, talk := range []string{"Oooo, nice", "xoxo Anna", "Hm (;-) that costs $$"} {
		give("paste", "", fmt.Sprintf("%q", talk))
		value("")
	}

	// A long record stands beside the box, and arrives whole.
	long := `'(;GM[1]SZ[5]C[' + 'x'.repeat(%d) + '];B[cc])'`
	give("paste", "", fmt.Sprintf(long, match.MaxDiagram-30))
	value("/show")
	p.wait(`document.querySelector('#attached').innerText.includes('pasted text · 2048 kB')`)
	p.do(chromedp.KeyEvent(kb.Enter))
	p.sees("/show (pasted text)")
	shown(". . X . .")
	p.wait(`document.querySelector('#attached').hidden`)

	// Dropped, in another encoding, and to be played on from.
	give("drop", "söhne.sgf", `new Uint8Array([...'(;GM[1]SZ[6]CA[ISO-8859-1]C['].map((c) => c.charCodeAt()).concat(0xe4, [...'])'].map((c) => c.charCodeAt())))`)
	p.wait(`document.querySelector('#attached').innerText.includes('söhne.sgf · 1 kB')`)
	get[bool](p, `document.querySelector('#message').value = '/setup', true`)
	p.do(chromedp.KeyEvent(kb.Enter))
	p.sees("/setup (söhne.sgf)")
	shown(". . . . . .")

	// Chosen, as on a phone; taken away; too long.
	file := filepath.Join(t.TempDir(), "game.sgf")
	if err := os.WriteFile(file, []byte("(;GM[1]SZ[7];B[aa])"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#upload"), []string{file}))
	p.wait(`document.querySelector('#attached').innerText.includes('game.sgf') && document.activeElement.id === 'message'`)
	p.do(chromedp.Click(chromedp.CSS("#detach")))
	p.wait(`document.querySelector('#attached').hidden`)
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#upload"), []string{file}))
	p.wait(`document.querySelector('#attached').innerText.includes('game.sgf')`)
	p.do(chromedp.Click(chromedp.CSS("#form button[type=submit]")))
	shown("X . . . . . .")
	give("drop", "large.sgf", fmt.Sprintf(`'x'.repeat(%d)`, match.MaxDiagram+1))
	p.wait(`document.querySelector('#hint').textContent === 'That is too long: at most 2 MB.' && document.querySelector('#attached').hidden`)
	get[bool](p, `document.querySelector('#message').focus(), document.querySelector('#message').value = '', true`)
	talk := strings.Repeat("long ", 201) + "!"
	if _, err := chromedp.Call(p.ctx, input.InsertText, input.InsertTextParams{Text: talk}); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	p.wait(`document.querySelector('#hint').textContent === 'That is too long: at most 1000 characters.'`)
	value(talk)
	p.narrow(1280)
}
