package web

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Somebody who is forgotten has said nothing any more: not in the database or its
// write-ahead log, not on the pages that are open, not in files. What others have
// said stays as it was, and so do the bot's lines. Before that the export shows all of it.
func TestForgottenInTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := newFile(t)
		r, url, _ := openBot(t, openStore(t, file))
		n := 0
		says := func(seat, text string) *message {
			t.Helper()
			n++
			a := post(t, url, submission{ID: id(n), Seat: seat, Text: text})
			time.Sleep(time.Second)
			return a.Message
		}
		const her, his = "name:Zyxqa", "name:Bob"
		// Her words, her name in a record, and her id.
		traces := regexp.MustCompile(`zyxq(word|comment|secret|diagram)|[pP][bBwW]\[[zZ]yxqa|name:zyxqa`)
		for i := range 40 { // others have names and games, too, so that pages of the database split
			says(fmt.Sprintf("name:Guest %d", i), "/new aga 9x9 opponent:me")
		}
		says(her, "hello, zyxqword")
		says(her, "/new two-button 5x5 opponent:Bob")
		says(his, "/join")
		turns := []string{her, his}
		if m := says(her, "/place C3 game:41"); m != nil { // nigiri
			turns = []string{his, her}
			says(his, "/place C3 game:41")
		}
		for i := range 30 {
			says(turns[(i+1)%2], fmt.Sprintf("/place %c%d game:41", "ABCDE"[i%5], i/5+1))
		}
		for _, shared := range []string{"/score share:yes game:41", "/board share:yes game:41"} {
			says(his, shared)
		}
		says(his, "/resign yes game:41")
		says(her, "/comment zyxqcomment, is it not? game:41")
		says(his, "/sgf game:41 share:yes")
		says(her, "/show (;SZ[5]C[zyxqdiagram];B[cc])")
		says(his, "Well played, Zyxqa! Zyxqasphere is another word.")
		says(her, "/new two-button 5x5 opponent:Bob") // which ends with her
		says(his, "/opponent Zyxqa")                  // no command
		says(his, "/new aga 5x5 color:Zyxqa")
		tell(t, r, "private", outbox.User{Platform: platform, ID: "name:zyxqa", Name: "Zyxqa"}, "zyxqsecret")

		var record string
		for _, m := range read(follow(t, url, "seat="+his, "")) {
			if m.File != nil {
				if _, body := do(t, "GET", url+m.File.URL, ""); strings.Contains(body, "Zyxqa") {
					record = m.File.URL
				}
			}
		}
		if record == "" {
			t.Fatal("no record has her name")
		}
		if m := says(her, "/privacy"); !strings.Contains(m.Text, "In this room I also store what you say") {
			t.Errorf("she is told that this is kept: %q", m.Text)
		}
		export := says(her, "/privacy export").File.URL
		_, all := do(t, "GET", url+export, "", "Cookie", browserFor(her).String())
		for _, trace := range []string{"zyxqword", "zyxqcomment", "zyxqsecret", `"diagram": "(;SZ[5]C[zyxqdiagram]`, "/place", `"name": "Zyxqa"`} {
			if !strings.Contains(all, trace) {
				t.Errorf("the export lacks %q", trace)
			}
		}
		kept := func() []byte {
			var all []byte
			for _, suffix := range []string{"", "-wal"} {
				data, err := os.ReadFile(file + suffix)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, bytes.ToLower(data)...)
			}
			return all
		}
		if !bytes.Contains(kept(), []byte("zyxqcomment")) {
			t.Error("the file has nothing of her")
		}
		page := follow(t, url, "seat="+his, "")
		read(page)

		if m := says(her, "/privacy delete yes"); m == nil || !strings.Contains(m.Text, "I have erased you") {
			t.Fatalf("she is told %+v", m)
		}
		time.AfterFunc(time.Minute, func() { page.body.Close() })
		e, ok := page.next()
		for ; ok && e.name == ""; e, ok = page.next() {
			if traces.MatchString(fmt.Sprint(e.message)) {
				t.Errorf("meanwhile others read %+v", e.message)
			}
		}
		if !ok || e.name != "anew" {
			t.Errorf("open pages do not begin anew, but get %+v", e)
		}
		again := follow(t, url, "seat="+his, e.id)
		if e, _ := again.next(); e.name != "reset" {
			t.Errorf("a page that comes back gets %+v", e)
		}
		lines := append(read(again), read(follow(t, url, "seat="+her, "", browserFor(her)))...)
		for _, m := range lines {
			if m.From == "Zyxqa" || slices.Contains(m.To, "Zyxqa") {
				t.Errorf("others read of her: %+v", m)
			}
		}
		var seen string
		for _, m := range lines {
			if m.From == "" && strings.Contains(fmt.Sprint(m), "yxqa") {
				t.Errorf("the bot still names her: %+v", m)
			}
			seen += fmt.Sprintln(m)
		}
		if traces.MatchString(seen) {
			t.Errorf("others read her words: %s", seen)
		}
		for _, stays := range []string{"Well played, Zyxqa! Zyxqasphere", "Game 41 begins", "[somebody]", "Guest 3"} {
			if !strings.Contains(seen, stays) {
				t.Errorf("%q is gone", stays)
			}
		}
		if resp, _ := do(t, "GET", url+export, ""); resp.StatusCode != http.StatusNotFound {
			t.Errorf("her export: %s", resp.Status)
		}
		if resp, body := do(t, "GET", url+record, ""); resp.StatusCode != http.StatusOK || !strings.Contains(body, "somebody") || traces.MatchString(body) {
			t.Errorf("the record of a game: %s %s", resp.Status, body)
		}
		left := kept()
		for _, at := range traces.FindAllIndex(left, -1) {
			t.Errorf("the database has a trace of her: %q", left[max(0, at[0]-60):min(len(left), at[1]+60)])
		}
	})
}

// A name of which nothing can be seen is none, nor is the word for somebody who has none.
func TestInvisibleNames(t *testing.T) {
	for _, name := range []string{"", " ", "\u200b\u202e", "\u3164", "\u2800\uffa0", "somebody"} {
		if who, problem := userOf("name:" + name); who != onlooker || problem != wordName {
			t.Errorf("%q is %+v, %q", name, who, problem)
		}
	}
	for name, id := range map[string]string{"1": "1", "%": "%", "_": "_", "Al": "al", "\u3164Al": "al"} {
		if who, problem := userOf("name:" + name); who.ID != "name:"+id || problem != "" {
			t.Errorf("%q is %+v, %q", name, who, problem)
		}
	}
}
