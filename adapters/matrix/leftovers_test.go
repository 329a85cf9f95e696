package matrix

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// A check of the database finds rows of Matrix that belong to nobody. That it finds no others,
// at any moment, is for leavesNothing.
func TestCheckFindsLeftovers(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		r := c.seals()
		c.settled()
		c.halt()
		check := func() (tables []string) {
			t.Helper()
			report, err := store.Check(t.Context(), c.file, "", time.Now(), nil, Leftovers...)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range report.Damage {
				if d.Rows == 0 || d.Why == "" {
					t.Errorf("%+v", d)
				}
				tables = append(tables, d.Table)
			}
			return slices.Compact(tables)
		}
		if found := check(); found != nil {
			t.Errorf("at first: %q", found)
		}
		for _, edit := range []struct {
			do, undo string
			found    []string
		}{
			{"UPDATE matrix_room SET joined = 0 WHERE room = $1", "UPDATE matrix_room SET joined = 1 WHERE room = $1", []string{"mx_user_profile"}},
			{"UPDATE matrix_event SET body = '{}' WHERE room = $1 AND state = 'accepted'", "UPDATE matrix_event SET body = '' WHERE room = $1", []string{"matrix_event"}},
			{"UPDATE matrix_key_sent SET session_id = 'x' || session_id WHERE $1 <> ''", "UPDATE matrix_key_sent SET session_id = substr(session_id, 2) WHERE $1 <> ''", []string{"matrix_key_sent"}},
			{"UPDATE matrix_device SET device_id = 'x' || device_id WHERE $1 <> ''", "UPDATE matrix_device SET device_id = substr(device_id, 2) WHERE $1 <> ''", []string{"crypto_account"}},
			{"UPDATE matrix_device SET user_id = 'x' || user_id WHERE $1 <> ''", "UPDATE matrix_device SET user_id = substr(user_id, 2) WHERE $1 <> ''",
				[]string{"crypto_megolm_inbound_session", "crypto_megolm_outbound_session", "crypto_olm_session", "crypto_secrets"}},
		} {
			for _, statement := range []string{edit.do, edit.undo} {
				_, db, closed := openStore(t, c.file)
				if _, err := db.Exec(t.Context(), statement, r.at); err != nil {
					t.Fatal(statement, err)
				}
				if err := closed(); err != nil {
					t.Fatal(err)
				}
				var want []string
				if statement == edit.do {
					want = edit.found
				}
				if diff := cmp.Diff(want, check()); diff != "" {
					t.Errorf("%s (-want +found):\n%s", statement, diff)
				}
			}
		}
	})
}
