package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
)

func TestLanguageOfABrowser(t *testing.T) {
	for header, want := range map[string]string{
		"":                                    "",
		"de-AT,de;q=0.9,en;q=0.8":             "de",
		"en-GB,en;q=0.9,de;q=0.8":             "en",
		"ja":                                  "ja",
		"fr,de;q=0.5,ja;q=0.9":                "ja", // the best of those that the bot speaks
		"tlh":                                 "tlh",
		"*":                                   "",
		";;;":                                 "",
		strings.Repeat("de,", 100):            "",
		"zz-" + strings.Repeat("-", 50) + "x": "",
	} {
		r := &http.Request{Header: http.Header{"Accept-Language": {header}}}
		if got := languageOf(r); got != want && !(want == "" && got == "mul") {
			t.Errorf("%.40q is %q, want %q", header, got, want)
		}
	}
}

// Who reads German is told in German what is wrong with what they typed, and the
// bot is told that they do.
func TestBrowserSpeaks(t *testing.T) {
	l := &memory{}
	var mu sync.Mutex
	var langs []string
	r := newRoom(l)
	url := open(t, r, fakeService{ask: func(_ context.Context, req bot.Request) (bot.Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		langs = append(langs, req.Lang)
		return bot.Answer{Text: "ja", Private: true}, nil
	}})
	ask := func(text string) string {
		body, err := json.Marshal(submission{ID: id(1), Seat: "black", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		_, got := do(t, "POST", url+"/ask", string(body), "Content-Type", "application/json", "Accept-Language", "de-CH,en;q=0.1")
		return got
	}
	for text, want := range map[string]string{"/pasx": "meintest du /pass?", "/": "Nach dem Schrägstrich", "": "Darin steht nichts.",
		strings.Repeat("x", maxText+1): "höchstens 1000 Zeichen"} {
		if got := ask(text); !strings.Contains(got, want) {
			t.Errorf("%.20q is answered %s", text, got)
		}
	}
	ask("/board")
	if len(langs) != 1 || langs[0] != "de" {
		t.Errorf("the bot hears %q", langs)
	}
	_, got := do(t, "GET", url+"/suggest?seat=black&text=/pas", "", "Accept-Language", "ja")
	if !strings.Contains(got, "パスする") {
		t.Errorf("suggested %s", got)
	}
}
