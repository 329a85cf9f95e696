package web

import (
	"context"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

var (
	ledgerNumber = regexp.MustCompile(`<td><a href="(/[gp]/[^"]*/held[^"]*)">([^<]*)</a>`)
	ledgerEntry  = regexp.MustCompile(`<li>(?:<a href="([^"]*)">)?([^<]*)`)
)

// entriesOn returns where the numbers of the ledger on a page lead: each entry with the end of
// the address of its turn in the game.
func entriesOn(t *testing.T, path, game string, get func(path string) (*http.Response, string)) (all []string) {
	t.Helper()
	_, page := get(path)
	for _, number := range ledgerNumber.FindAllStringSubmatch(page, -1) {
		address := html.UnescapeString(number[1])
		resp, body := get(address)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", address, resp.Status)
		}
		_, of, _ := strings.Cut(address, "?")
		for _, item := range ledgerEntry.FindAllStringSubmatch(body, -1) {
			all = append(all, of+" "+number[2]+": "+html.UnescapeString(item[2])+" "+strings.TrimPrefix(item[1], game))
		}
	}
	return all
}

// Each number of the ledger leads to the entries from which it comes, up to the moment that is
// shown, each with the address of its turn.
func TestLedgerEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := openStore(t, store.Memory)
		r := newRoom(st)
		b := withPages(st)
		url, _ := inMemory(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
		say := commands(t, b)
		say("black", "/new two-button 3x3")
		say("black", "/place B2")
		say("white", "/pass")
		say("black", "/pass")
		say("white", "/dead B2")
		game := pathOf(t, st)
		told := func(path string) []string {
			t.Helper()
			return entriesOn(t, path, game, func(path string) (*http.Response, string) { return do(t, "GET", url+path, "") })
		}
		if got := told(game + "/4"); len(got) != 0 {
			t.Errorf("before anything changed hands: %q", got)
		}
		first := []string{
			"of=pass-stone&by=black 1: 2. Black +1 pass stone: a pass gives your opponent a pass stone /5",
			"of=button&by=white ½: 2. White +1 button: the first player to pass gets a button /5",
		}
		if got := told(game + "/5"); !slices.Equal(got, first) {
			t.Errorf("after the first pass: %q, want %q", got, first)
		}
		counted := []string{
			"of=prisoner&by=white 1: When both accept. White +1 prisoner: stones agreed to be dead become prisoners ",
			first[0],
			"of=pass-stone&by=white 1: 3. White +1 pass stone: a pass gives your opponent a pass stone /6",
			"of=button&by=black ½: When both accept. Black +1 button: the last player to pass gets a button ",
			first[1],
		}
		if got := told(game); !slices.Equal(got, counted) {
			t.Errorf("in the count: %q, want %q", got, counted)
		}
		for _, wrong := range []string{"/5/held", "/5/held?of=komi&by=black", "/5/held?of=button&by=red", "/99/held?of=button&by=white", "/held?of=button&by=white"} {
			if resp, _ := do(t, "GET", url+game+wrong, ""); resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %s", wrong, resp.Status)
			}
		}
	})
}
