package web

import (
	"io"
	"net/http"
	neturl "net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// formWords are what the form for an event says of its questions, in English.
func formWords() (all []string) {
	for _, q := range formFields {
		if q.Question != "" {
			all = append(all, q.Question)
		}
		for _, f := range q.Fields {
			if all = append(all, f.Label); f.Name == "komi" {
				all = append(all, yesOrNo[0].Label, yesOrNo[1].Label)
			}
		}
	}
	return all
}

// Somebody organises an event with the form: what is wrong is said beside its field, the
// preview publishes nothing, and sending the form twice publishes once.
func TestEventForm(t *testing.T) {
	st := openStore(t, store.Memory)
	b := bot.New(st, bot.Config{Pages: map[string]match.Pages{platform: match.LinkPages}})
	url := open(t, newRoom(st), b)
	cookie := browserFor("name:Ada").String()
	send := func(values ...string) (int, string, string) {
		t.Helper()
		form := neturl.Values{"name": {"Ada"}, "title": {"Spring"}, "rules": {"two-button"}, "size": {"9x9"}, "until": {"7d"}, "system": {"groups"}, "group": {"8"}, "rounds": {"5"}, "days": {"28"}, "ranks": {"no"}}
		for i := 0; i < len(values); i += 2 {
			form.Set(values[i], values[i+1])
		}
		client := *clientFor(url)
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/e/new", strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", originOf(url))
		req.Header.Set("Cookie", cookie)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var body strings.Builder
		if _, err := io.Copy(&body, resp.Body); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, body.String(), resp.Header.Get("Location")
	}
	events := func() int {
		heads, err := st.Contests(t.Context(), request(black).Where, nil, 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(heads)
	}
	if code, body, _ := send(); code != http.StatusUnprocessableEntity || !strings.Contains(body, "Only moderators organise events") || !strings.Contains(body, "/owner") {
		t.Errorf("where only moderators organise: %d\n%s", code, body)
	}
	req := request(black)
	req.ID, req.Command, req.Args, req.Moderator, req.Shows = id(1), "settings", map[string]string{"events": "anyone"}, true, true
	if a, err := b.Ask(t.Context(), req); err != nil || a.Own().Refused {
		t.Fatal(a, err)
	}
	for _, c := range []struct{ field, typed, says string }{
		{"rules", "twobutton, nonsense", "nonsense"}, {"size", "200", "200"}, {"komi", "much", "much"}, {"until", "yesterday", "is no time"}, {"seats", "-3", "-3"}, {"group", "3", "from 4 to 8"},
		{"days", "soon", "soon"}, {"system", "ladder", "ladder"}, {"name", "Onlooker", "name of a seat"}, {"name", " ", "your name"},
	} {
		code, body, _ := send(c.field, c.typed, "do", "publish")
		beside := regexp.MustCompile(`aria-describedby="` + c.field + `-wrong">(?s:.*?)<span id="` + c.field + `-wrong" role="alert">([^<]*)</span>`).FindStringSubmatch(body)
		if code != http.StatusUnprocessableEntity || beside == nil || !strings.Contains(beside[1], c.says) || strings.Count(body, `role="alert"`) != 1 {
			t.Errorf("%s %q: %d, beside it %q\n%s", c.field, c.typed, code, beside, body)
		}
	}
	_, body, _ := send("title", strings.Repeat("Go", 31), "size", "200", "rules", "nonsense", "system", "knockout", "days", "soon")
	for field, says := range map[string]string{"title": "at most 60 characters; yours has 62", "size": "200", "rules": "nonsense", "days": "soon"} {
		beside := regexp.MustCompile(`<span id="` + field + `-wrong" role="alert">([^<]*)</span>`).FindStringSubmatch(body)
		if beside == nil || !strings.Contains(beside[1], says) || strings.Count(body, `role="alert"`) != 4 {
			t.Errorf("beside %s, one of four that are wrong: %q\n%s", field, beside, body)
		}
	}
	if _, body, _ := send("title", strings.Repeat("Go", 30)); !strings.Contains(body, "“"+strings.Repeat("Go", 30)+"”") {
		t.Errorf("a long title is not whole in the preview:\n%s", body)
	}
	code, preview, _ := send("title", `<b>"Spring"</b>`)
	if code != http.StatusOK || !strings.Contains(preview, "Groups of up to 8 players") || !strings.Contains(preview, `value="publish"`) || strings.Contains(preview, "<b>") || strings.Contains(preview, "/event what") || events() != 0 {
		t.Errorf("the preview: %d, %d events\n%s", code, events(), preview)
	}
	form := regexp.MustCompile(`name="id" value="([A-Z2-7]+)"`).FindStringSubmatch(preview)[1]
	for range 2 {
		if code, body, to := send("id", form, "do", "publish"); code != http.StatusSeeOther || to != "/" || events() != 1 {
			t.Errorf("published: %d to %s, %d events\n%s", code, to, events(), body)
		}
	}
	if _, body := do(t, "GET", url+"/e/new?seat=name:Ben", "", "Accept-Language", "de"); !strings.Contains(body, `value="Ben"`) || !strings.Contains(body, "Neues Turnier") {
		t.Errorf("the form: %s", body)
	}
}
