package text

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A stored message reads back unchanged.
func TestMessageInJSON(t *testing.T) {
	for _, x := range []struct {
		message Message
		stored  string
	}{
		{Say("plain"), `{"k":"plain"}`},
		{Say("all", "D4", 12, -3, Somebody("p7"), ThisGame, rules.Points(13)), `{"k":"all","a":["D4",12,-3,{"p":"p7"},{"g":true},"6½"]}`},
		{Say("numeral", "12x", "", "007"), `{"k":"numeral","a":["12x","","007"]}`},
		{Say("outer", Say("inner", Somebody("p1"), Color(rules.Black)), Say("empty")),
			`{"k":"outer","a":[{"k":"inner","a":[{"p":"p1"},{"k":"color.black"}]},{"k":"empty"}]}`},
	} {
		data, err := json.Marshal(x.message)
		if err != nil || string(data) != x.stored {
			t.Errorf("stored as %s, %v; want %s", data, err, x.stored)
		}
		var back Message
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(x.message, back); diff != "" {
			t.Errorf("%s read back (-want +got):\n%s", data, diff)
		}
	}
}

// Messages stored by the first release keep their meaning.
func TestMessagesOfTheFirstRelease(t *testing.T) {
	for stored, want := range map[string]string{
		`{"k":"opened.for","a":["\u0001p1"]}`: "Ada, will you play? /join or /decline",
		`{"k":"placing","a":["1"]}`:           "Black places 1 more handicap stone.",
		`{"k":"placing","a":["2"]}`:           "Black places 2 more handicap stones.",
		`{"k":"placing.none","a":["\u0002"]}`: "Game 3 has no handicap stones to place.",
		`{"k":"list","a":["\u0007{\"k\":\"opened.for\",\"a\":[\"\\u0001p2\"]}","\u0007{\"k\":\"thing.prisoner\",\"a\":[\"1\"]}"]}`: "somebody, will you play? /join or /decline, 1 prisoner",
		`{"k":"missing","a":["dead","a stone of each chain","/dead C3"]}`:                                                          "/dead needs a stone of each chain: /dead C3.",
		`{"k":"no such key"}`: "no such key",
	} {
		var m Message
		if err := json.Unmarshal([]byte(stored), &m); err != nil {
			t.Fatal(err)
		}
		if got := Fill(English.Word([]Message{m}, Names{"p1": {Name: "Ada"}}, 3), Format{}); got != want {
			t.Errorf("%s says %q, want %q", stored, got, want)
		}
	}
	for _, bad := range []string{`{"k":"x","a":["\u0007{"]}`, `{"k":"x","a":[true]}`, `{"k":"x","a":[1.5]}`} {
		if json.Unmarshal([]byte(bad), &Message{}) == nil {
			t.Errorf("read %s", bad)
		}
	}
}

func TestList(t *testing.T) {
	if got := English.Say(List("C3", "D4", "E5")); got != "C3, D4, E5" {
		t.Errorf("got %q", got)
	}
	if got := English.Say(List("C3")); got != "C3" {
		t.Errorf("got %q", got)
	}
}
