package contest

import "github.com/halfpoint-go/halfpoint/bot/text"

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
