package store

import (
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Whether a room has any games is found without a look at all of them.
func TestAnyGamesAreFoundWithoutSorting(t *testing.T) {
	query, args := matchesQuery(bot.Query{Where: match.Room{Platform: "web", Channel: "local"},
		States: []match.State{match.Open, match.Going, match.Sandbox}, Limit: 2, Any: true})
	if plan := explain(t, memory(t), query, args...); !strings.Contains(plan, "game_channel_state") || strings.Contains(plan, "TEMP B-TREE") {
		t.Error(plan)
	}
}
