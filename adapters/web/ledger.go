package web

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// heldThing returns the thing that a row of the ledger counts, if players hold it.
func heldThing(w *render.Words, label string) (rules.Thing, bool) {
	for t := rules.Prisoner; t <= rules.UltimateStone; t++ {
		if label == w.Things[t] {
			return t, true
		}
	}
	return 0, false
}

// tellEntries links the numbers of a ledger at a moment, "/g/abc/12", to the pages that tell the
// entries from which they come. Of two counts beside each other only the first is of the game.
// A record may have been counted with other stones dead, as the query dead says.
func tellEntries(ledger []ledgerRow, w *render.Words, moment, dead string) {
	if dead != "" {
		dead = "&" + dead[1:]
	}
	for _, row := range ledger {
		if thing, ok := heldThing(w, row.Label); ok {
			for i, by := range []string{"black", "white"} {
				if c := &row.Cells[i]; c.Value != "" && (c.Value != "0" || c.Delta != "") {
					c.Entries = fmt.Sprintf("%s/held?of=%s&by=%s%s", moment, thing, by, dead)
				}
			}
		}
	}
}

// An entriesView is the data of the page that tells where a number of the ledger comes from.
type entriesView struct {
	head
	Entries []link
	Back    string
}

// held tells from which entries the ledger has how many of a thing a player holds.
func (s *server) held(w http.ResponseWriter, r *http.Request) {
	var v bot.View
	var page []byte
	err := s.inTurn(r.Context(), func() error {
		linked, err := s.linked(r)
		var who outbox.User
		if err == nil {
			_, who, _, err = s.player(r, linked)
		}
		if err != nil {
			return err
		}
		if v, err = s.view(r, readerLanguage(r), cmp.Or(who, linked)); err != nil {
			return err
		}
		view, ok := entriesOf(v, func(seq int) string { return momentPath(r, seq) + deadQuery(r, v) }, r.URL.Query().Get("of"), r.URL.Query().Get("by"))
		if !ok {
			return bot.ErrNotFound
		}
		view.Back += deadQuery(r, v)
		page = s.page("held.html", view)
		return nil
	})
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.send(w, http.StatusOK, page, false, pagePolicy)
}

// entriesOf lays out the entries of a thing, by its name, and a player: "black" or "white". The
// function at makes the address of the moment after an event.
func entriesOf(v bot.View, at func(seq int) string, thing, by string) (out entriesView, ok bool) {
	words := cmp.Or(v.Scene.Words, &render.English)
	c, name := rules.Black, words.Black
	if by == "white" {
		c, name = rules.White, words.White
	} else if by != "black" {
		return out, false
	}
	var what rules.Thing
	for t := rules.Prisoner; t <= rules.UltimateStone; t++ {
		if ok = t.String() == thing; ok {
			what = t
			break
		}
	}
	if !ok {
		return out, false
	}
	out.head = head{Lang: v.Lang, Title: name + ": " + words.Things[what]}
	out.Back = v.Path
	for _, h := range v.Held {
		if h.Thing != what || h.Player != c {
			continue
		}
		l := link{Text: h.Text}
		if h.Seq > 0 {
			l.URL = at(h.Seq)
		}
		out.Entries = append(out.Entries, l)
	}
	return out, true
}
