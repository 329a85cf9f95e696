package web

import (
	"bytes"
	"fmt"
	"html"
	"image/gif"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/halfpoint-go/halfpoint/adapters/intake"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/secret"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A shelf is a browser that brings records to a room.
type shelf struct {
	t       *testing.T
	st      *store.Store
	url     string
	browser string
}

// newShelf opens a room with the whole bot.
func newShelf(t *testing.T, prepare ...func(*Room)) shelf {
	st := openStore(t, newFile(t))
	r := newRoom(st)
	r.cfg.OwnerToken = secret.New(token)
	for _, f := range prepare {
		f(r)
	}
	return shelf{t, st, open(t, r, bot.New(st, bot.Config{})), "ada"}
}

// as returns the shelf as another browser sees it.
func (s shelf) as(browser string) shelf {
	s.browser = browser
	return s
}

func (s shelf) get(path string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	return do(s.t, "GET", s.url+path, "", append(headers, "Cookie", browserFor(s.browser).String())...)
}

// bring brings a file, or without a name a text, and returns the answer; if it is a page of the
// record, by its path.
func (s shelf) bring(name, text string) (status int, path, body string) {
	s.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormField("text")
	if name != "" {
		part, err = w.CreateFormFile("file", name)
	}
	if err == nil {
		_, err = part.Write([]byte(text))
	}
	if err != nil || w.Close() != nil {
		s.t.Fatal(err)
	}
	resp, body := do(s.t, "POST", s.url+"/records", form.String(), "Content-Type", w.FormDataContentType(), "Cookie", browserFor(s.browser).String())
	return resp.StatusCode, resp.Request.URL.Path, body
}

// must brings a text, and returns the path of its page.
func (s shelf) must(text string) string {
	s.t.Helper()
	status, path, body := s.bring("", text)
	if status != 200 || !strings.HasPrefix(path, "/p/") {
		s.t.Fatalf("%d at %s: %s", status, path, body)
	}
	return path
}

// press submits a form of a record's page.
func (s shelf) press(path, does string) (*http.Response, string) {
	s.t.Helper()
	return do(s.t, "POST", s.url+path, url.Values{"do": {does}}.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Cookie", browserFor(s.browser).String())
}

// plain returns what a page says, without its elements.
func plain(page string) string {
	page = regexp.MustCompile(`(?s)<script.*?</script>|<svg.*?</svg>|<style.*?</style>`).ReplaceAllString(page, "")
	return strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " "))), " ")
}

// What people bring is answered by the page of a record, or by what is wrong with it.
func TestRecordsAreBrought(t *testing.T) {
	s := newShelf(t)
	for _, c := range []struct {
		what, name, text string
		status           int
		says             []string
	}{
		{"a record", "a.sgf", "(;SZ[5]RU[AGA]KM[7]PB[Ada]PW[Ben]EV[Cup];B[cc];W[dc])", 200, []string{"Ada", "Ben", "Cup", "Move 2 of 2", "Only this browser can see"}},
		{"a diagram", "", ".X./XO./...", 200, []string{"Move 0 of 0"}},
		{"a diagram with turns", "", "$$W\n$$ . 1 .\n$$ 2 O .\n$$ . . X", 200, []string{"Move 2 of 2", "White B3", "Black A2"}},
		{"nothing", "", " \n", 400, []string{"There is nothing in that."}},
		{"an empty file", "a.sgf", "", 400, []string{"There is nothing in that."}},
		{"a ZIP", "a.sgf", "PK\x03\x04\x14\x00]\x00", 400, []string{"That is a ZIP archive."}},
		{"chat", "", "hello there", 400, []string{"I cannot read that diagram.", "hello there"}},
		{"1×1", "", "(;SZ[1];B[aa])", 400, []string{"I cannot read that diagram."}},
		{"52×52", "", "(;SZ[52];B[aa])", 400, []string{"52"}},
		{"two games", "", "(;SZ[5];B[cc])(;SZ[9];B[aa])", 200, []string{"The file has more than one game. I read the first."}},
		{"names", "<i>.sgf", "(;SZ[5]PB[<script>alert(1)</script>]PW[\u202eneb];B[cc])", 200, []string{"<script>alert(1)</script>", " neb "}},
		{"an illegal move", "", "(;SZ[5]RU[AGA];B[cc];W[dc];B[cc];W[aa])", 200, []string{"Move 2 of 2", "I could not read the record any further.", "Move 3 (Black C3): the point is not empty."}},
		{"too much", "", strings.Repeat("(;C[x])", 10<<20/7), 413, []string{"at most 2 MB"}},
		{"a file just too long", "a.sgf", strings.Repeat(" ", match.MaxDiagram) + "(;B[aa])", 413, []string{"at most 2 MB"}},
	} {
		status, path, body := s.bring(c.name, c.text)
		if status != c.status || strings.HasPrefix(path, "/p/") != (c.status == 200) || strings.Contains(body, "<script>") || strings.Contains(body, "\u202e") {
			t.Errorf("%s: %d at %s:\n%.3000s", c.what, status, path, body)
		}
		for _, want := range c.says {
			if got := plain(body); !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%.3000s", c.what, want, got)
			}
		}
	}
	if resp, body := do(t, "POST", s.url+"/records", "x", "Content-Type", "text/plain"); resp.StatusCode != 400 || !strings.Contains(body, "Send it again") {
		t.Errorf("no form: %s %s", resp.Status, body)
	}
}

// A record is its browser's until it is shared, and nobody's once it is deleted.
func TestRecordsBelongToABrowser(t *testing.T) {
	ada := newShelf(t)
	ben := ada.as("ben")
	path := ada.must("(;SZ[5]RU[AGA];B[cc];W[dc])")
	_, missing := ada.get("/p/nope")
	shared := false
	sees := func(s shelf, want bool) {
		t.Helper()
		for _, p := range []string{"", "/1", "/2/board.png", "/record.sgf", "/record.gif", "/embed", "/1/embed"} {
			resp, body := s.get(path + p)
			want := want && (shared || !strings.HasSuffix(p, "embed")) // frames have no cookies
			if (resp.StatusCode == 200) != want || !want && (resp.StatusCode != 404 || body != missing) || resp.Header.Get("X-Robots-Tag") != "noindex" {
				t.Errorf("%s reads %s: %s", s.browser, p, resp.Status)
			}
		}
	}
	sees(ada, true)
	sees(ben, false)
	if resp, _ := ben.press(path, "share"); resp.StatusCode != 404 {
		t.Errorf("another browser shares it: %s", resp.Status)
	}
	if _, body := ada.press(path, "share"); !strings.Contains(plain(body), ada.url+path) {
		t.Errorf("shared: %s", plain(body))
	}
	shared = true
	sees(ben, true)
	if _, body := ben.get(path); strings.Contains(body, "Delete") {
		t.Error("others may delete it")
	}
	if resp, _ := ben.press(path, "delete"); resp.StatusCode != 404 {
		t.Errorf("another browser deletes it: %s", resp.Status)
	}
	ada.press(path, "hide")
	shared = false
	sees(ben, false)
	if _, body := ada.get("/records"); !strings.Contains(body, `href="`+path+`"`) {
		t.Errorf("the browser's records: %s", plain(body))
	}
	ada.press(path, "delete")
	sees(ada, false)

	// A moderator may delete what is shared, and the log of moderators tells it.
	path = ada.must(".X.")
	ada.press(path, "share")
	logged(t, ada.st)
	owner := browserFor("mod").String() + "; " + ownerCookie + "=" + ownerProof(token)
	do(t, "POST", ada.url+path, "do=delete", "Content-Type", "application/x-www-form-urlencoded", "Cookie", owner)
	sees(ada, false)
	logged(t, ada.st, "act.record")

	for range maxMine {
		ada.must(".X.")
	}
	if status, _, body := ada.bring("", ".X."); status != 409 || !strings.Contains(body, "You have 20 records") {
		t.Errorf("one too many: %d %s", status, plain(body))
	}
	ben.must(".X.")
}

// However many browsers somebody makes up, in a day they cannot fill what is there for the
// records of all.
func TestRecordsOfAnAddressAreLimited(t *testing.T) {
	s := newShelf(t, func(r *Room) { r.limits.kept = intake.New(1000, 1) })
	record := "(;SZ[5]C[" + strings.Repeat("x", 400) + "])"
	for i, want := range []int{200, 200, 429} {
		if status, _, body := s.as(fmt.Sprint("browser ", i)).bring("", record); status != want {
			t.Errorf("record %d: %d %.200s", i+1, status, body)
		}
	}
	kept, now := 0, time.Unix(0, 0)
	for l := newLimits(0, 0).kept; now.Before(time.Unix(0, 0).Add(24 * time.Hour)); now = now.Add(time.Minute) {
		for l.Spend("1.2.3.4", match.MaxDiagram, now) == 0 {
			kept += match.MaxDiagram
		}
	}
	if kept > 128<<20 || kept < 16<<20 {
		t.Errorf("an address brings %d MB in a day", kept>>20)
	}
}

// A file may have any name, but no more of it is kept than is shown.
func TestNamesOfRecordsAreShort(t *testing.T) {
	s := newShelf(t)
	status, path, body := s.bring(strings.Repeat("name", 1<<18)+".sgf", "(;SZ[5];B[cc])")
	if status != 200 {
		t.Fatalf("%d: %.300s", status, body)
	}
	r, err := s.st.Record(t.Context(), strings.TrimPrefix(path, "/p/"))
	if err != nil || r.Name != strings.Repeat("name", 10)+"…" {
		t.Errorf("%d bytes of name, %.99q, %v", len(r.Name), r.Name, err)
	}
}

// One steps through a record, marks dead stones, counts it by another ruleset, and takes it
// away.
func TestRecordsAreRead(t *testing.T) {
	s := newShelf(t)
	// Black has the left, White the right; the white stone on A5 may be dead.
	path := s.must("(;SZ[5]RU[AGA]KM[0]AB[ca][cb][cc][cd][ce]AW[da][db][dc][dd][de][aa];B[];W[])")
	says := func(address string, status int, want ...string) string {
		t.Helper()
		resp, body := s.get(address)
		got := plain(body)
		for _, w := range want {
			if !strings.Contains(got, w) || resp.StatusCode != status {
				t.Errorf("%s: %s, no %q in\n%s", address, resp.Status, w, got)
			}
		}
		return body
	}
	says(path+"/0", 200, "Move 0 of 2")
	says(path+"/1", 200, "Move 1 of 2")
	for _, none := range []string{"/3", "/-1", "/01", "/x", "/4611686018427387904"} {
		says(path+none, 404)
	}
	alive := says(path, 200, "Move 2 of 2")
	dead := says(path+"?dead=A5", 200, "Counted with the stones that are marked as dead here.")
	if !strings.Contains(dead, `name="dead" type="text" value="A5"`) || strings.Count(dead, "<figure") != 1 {
		t.Errorf("dead: %s", dead)
	}
	if twice := says(path+"?dead=A5+A5", 200); !strings.Contains(twice, `value="none"`) {
		t.Errorf("marked twice: %s", twice)
	}
	says(path+"?dead=B2", 400, "There is no stone on B2.")
	says(path+"?dead=zz", 400, "zz")
	compared := says(path+"?dead=A5&as=japanese", 200, "What differs", "Japanese")
	if strings.Count(compared, "<figure") != 2 {
		t.Error("the other ruleset has no board")
	}
	says(path+"?as=agga", 400, "agga")
	if alive == dead {
		t.Error("the dead stone changes nothing")
	}
	// A number of the ledger tells its entries: with the stones that look dead, or those that the reader marks.
	for query, want := range map[string][]string{
		"": {
			"of=prisoner&by=black 1: 2. Black +1 prisoner: stones agreed to be dead become prisoners /2",
			"of=pass-stone&by=black 1: 2. Black +1 pass stone: a pass gives your opponent a pass stone /2",
			"of=pass-stone&by=white 1: 1. White +1 pass stone: a pass gives your opponent a pass stone /1",
		},
		"?dead=none": {
			"of=pass-stone&by=black&dead=none 1: 2. Black +1 pass stone: a pass gives your opponent a pass stone /2?dead=none",
			"of=pass-stone&by=white&dead=none 1: 1. White +1 pass stone: a pass gives your opponent a pass stone /1?dead=none",
		},
	} {
		if got := entriesOn(t, path+query, path, func(path string) (*http.Response, string) { return s.get(path) }); !slices.Equal(got, want) {
			t.Errorf("the entries of the ledger with %q: %q, want %q", query, got, want)
		}
	}
	_, sgf := s.get(path + "/record.sgf")
	if !strings.HasPrefix(sgf, "(;FF[4]") || !strings.Contains(sgf, "XD[A5]") {
		t.Errorf("taken away: %s", sgf)
	}
	_, animation := s.get(path + "/record.gif")
	if frames, err := gif.DecodeAll(strings.NewReader(animation)); err != nil || len(frames.Image) == 0 {
		t.Errorf("the animation: %v", err)
	}
}

// Somebody brings a file with a browser, and presses a stone to mark its chain as dead, and
// again to take that back.
func TestRecordInChromium(t *testing.T) {
	tier.Change(t)
	file := filepath.Join(t.TempDir(), "game.sgf")
	if err := os.WriteFile(file, []byte("(;SZ[5]RU[AGA]KM[0]PB[Ada]PW[Grace]EV[Club evening]AB[ca][cb][cc][cd][ce]AW[da][db][dc][dd][de][aa];B[];W[])"), 0o600); err != nil {
		t.Fatal(err)
	}
	st := openStore(t, newFile(t))
	r := newRoom(st)
	url, _ := openTCP(t, r, bot.New(st, bot.Config{}))
	p := blankTab(t, chromium(t))
	p.do(chromedp.Navigate(url+"/records"), chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}), chromedp.Click(chromedp.CSS("#bring button")),
		chromedp.WaitVisible(chromedp.CSS("main[data-record] .board")))
	dead := func(want string) {
		t.Helper()
		p.wait(`document.querySelector('#dead').value === %q`, want)
	}
	press := func() { p.do(chromedp.Click(chromedp.CSS("[data-point=A5]"))) }
	dead("A5") // as it looks
	press()
	dead("none")
	press()
	dead("A5")
	for name, size := range map[string][2]int64{"record": {1366, 900}, "record-phone": {360, 1600}} {
		p.do(chromedp.EmulateViewport(size[0], size[1]))
		p.shoot(name)
	}
}
