package matrix

import (
	"slices"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// What the first release still had to do after its posts, which it kept by itself,
// becomes decorations.
func TestWaitingOfTheFirstRelease(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.open()
		c.exec("DELETE FROM halfpoint_version WHERE version_id >= 12")
		c.exec("INSERT INTO matrix_room (room, known, last, people, joined) VALUES ('!now:h', '!first:h', '', 3, 1)")
		for _, m := range [][3]string{
			{"status", "$root", `{"Room":"!now:h","Event":"$root","Game":"g1","Number":1,"Seq":7,"Controls":null,"Lang":"en"}`},
			{"status", "$closed", `{"Room":"!other:h","Event":"$closed","Game":"g2","Number":2,"Seq":2,"Controls":null,"Notice":"$notice","Lang":"en"}`},
			{"status", "$broken", `{"Room":`},
			{"press", "!now:h/$root ⏭️", "000001793620800000 01"},
			{"press", "!now:h/$root ✋", "000001793620800000 00"},
			{"press", "!other:h/$closed ✋", "000001793620800000 00"},
			{"promise", "!first:h g1", `{"Room":"!now:h","Root":"$root","Post":"p1","Channel":"!first:h","Game":"g1","Number":1,"Seq":7,"Said":true,"Since":"2026-11-02T12:00:00Z"}`},
			{"promise", "!other:h g3", `{"Room":"!other:h","Root":"","Post":"p3","Channel":"!other:h","Game":"g3","Number":3,"Seq":4,"Said":true,"Since":"2026-11-02T12:00:00Z"}`},
			{"promise", "!other:h g4", `{"Room":"!other:h","Root":"$r","Post":"p4","Channel":"!other:h","Game":"g4","Number":4,"Seq":4,"Said":false,"Since":"2026-11-02T12:00:00Z"}`},
			{"reaction", "!now:h/$root ↩️", "there"},
		} {
			c.exec("INSERT INTO matrix_mark (kind, key, value, at) VALUES ($1, $2, $3, 1793620800000)", m[0], m[1], m[2])
		}
		if err := c.closed(); err != nil {
			t.Fatal(err)
		}
		c.open()
		defer c.closed()
		rows, err := c.cfg.DB.Query(t.Context(), `
			SELECT kind || ' | ' || key || ' | ' || channel || ' | ' || game || ' | ' || seq || ' | ' || follows || ' | ' || target || ' | ' || data || ' | ' || not_after
			FROM decoration WHERE platform = 'matrix' AND attempt = 1 ORDER BY kind, key
			`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var got []string
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			got = append(got, line)
		}
		want := []string{
			`attach | !first:h g1 | !first:h | g1 | 7 | show | !now:h/$root | {"Post":"p1","Root":"$root"} | 1793707200000`,
			`attach | !other:h g3 | !other:h | g3 | 4 | show | !other:h/$ | {"Post":"p3","Root":""} | 1793707200000`,
			`header | !now:h/$root | !first:h | g1 | 7 | show | !now:h/$root |  | 0`,
			`header | !other:h/$closed | !other:h | g2 | 2 | show | !other:h/$closed | !other:h/$notice | 0`,
			`reaction | !now:h/$root | !first:h |  | 0 |  | !now:h/$root | ✋ ⏭️ | 0`,
			`reaction | !other:h/$closed | !other:h | g2 | 2 | notice | !other:h/$closed | none | 0`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("there are %q", got)
		}
		if n := c.marks(); !slices.Equal(n, []string{"reaction"}) {
			t.Errorf("the marks that stay are of %q", n)
		}
	})
}

// marks returns the kinds of the adapter's marks.
func (c *club) marks() (kinds []string) {
	rows, err := c.cfg.DB.Query(c.Context(), "SELECT DISTINCT kind FROM matrix_mark ORDER BY kind")
	if err != nil {
		c.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var kind string
		if err := rows.Scan(&kind); err != nil {
			c.Fatal(err)
		}
		kinds = append(kinds, kind)
	}
	return kinds
}
