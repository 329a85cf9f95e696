package contest

import "github.com/halfpoint-go/halfpoint/bot/text"

// Drawn returns the players of each group in the order in which they were divided, which
// decides who has which colour against whom. Nil: no round is paired, or there are no groups.
func Drawn(log []Event) [][]int {
	for _, e := range log {
		if e.Body.Kind == paired {
			return e.Body.Groups
		}
	}
	return nil
}

// All returns the results that a table has had, the oldest first: the later ones are
// corrections.
func (t Table) All() []Result {
	if t.Result == nil {
		return nil
	}
	return append(t.Past[:len(t.Past):len(t.Past)], *t.Result)
}

// Words says who won.
func (r Result) Words() text.Message {
	return Score{Black: r.Black, White: r.White, How: r.How}.words()
}
