package discord

import (
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
)

// Nobody is called by a name of which nothing can be seen.
func TestNameOf(t *testing.T) {
	for want, u := range map[string]interaction.User{
		"Nick":          {Username: "honinbo", GlobalName: "Global", Nick: "Nick"},
		"Global":        {Username: "honinbo", GlobalName: "Global", Nick: "\u3164 \u200b"},
		"honinbo":       {Username: "honinbo", GlobalName: "\u3164", Nick: " "},
		"🦊 (honinbo)":   {Username: "honinbo", GlobalName: "🦊"},
		"عمر (honinbo)": {Username: "honinbo", GlobalName: "Global", Nick: "عمر"},
	} {
		if got := nameOf(u); got != want {
			t.Errorf("%+v is called %q, want %q", u, got, want)
		}
	}
}
