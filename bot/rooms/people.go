package rooms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// People returns the users behind ids. If some of their names look the same, it adds tags
// to those: no person can pose as another. The tag is derived from the person,
// so that it is the same in every text and picture with both.
func (r *Rooms) People(ctx context.Context, ids ...match.PersonID) (map[match.PersonID]outbox.User, error) {
	who, err := r.store.People(ctx, ids)
	return TellApart(who), err
}

// tagged is how much of a name is left before a tag, in characters.
const tagged = text.MaxName - len(" #") - tagLength

// tagLength is the length of a tag, in hexadecimal digits.
const tagLength = 4

// TellApart adds tags to names that look the same.
func TellApart(who map[match.PersonID]outbox.User) map[match.PersonID]outbox.User {
	looks, people := map[match.PersonID]string{}, map[string]int{} // of those with a name
	for p, w := range who {
		if name := text.CleanName(w.Name); name != "" {
			looks[p] = Looks(name)
			people[looks[p]]++
		}
	}
	out := make(map[match.PersonID]outbox.User, len(who))
	for p, w := range who {
		if s, named := looks[p]; named && people[s] > 1 {
			sum := sha256.Sum256([]byte(p))
			name := strings.Trim(text.CleanName(w.Name), "\u2068\u2069…")
			if letters := []rune(name); len(letters) > tagged {
				name = string(letters[:tagged-1]) + "…"
			}
			w.Name = name + " #" + hex.EncodeToString(sum[:])[:tagLength]
		}
		out[p] = w
	}
	return out
}

// twins are letters of other alphabets that look like Latin ones; see Unicode
// Technical Standard 39. The table holds those with which a whole name can be
// written.
var twins = strings.NewReplacer(
	"а", "a", "в", "b", "е", "e", "к", "k", "м", "m", "н", "h", "о", "o", "р", "p", "с", "c", "т", "t", "у", "y", "х", "x", "і", "i", "ј", "j", "ѕ", "s", "ԁ", "d", "ԛ", "q", "ԝ", "w", "ӏ", "l",
	"α", "a", "β", "b", "ε", "e", "ζ", "z", "η", "h", "ι", "i", "κ", "k", "μ", "m", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "y", "χ", "x",
	"0", "o", "1", "l", "|", "l", "i", "l", "ı", "l")

// Looks reduces a name to what readers see, without case, accents, blanks and
// the difference between similar letters. Two names with the same looks can be confused.
func Looks(name string) string {
	name = cases.Fold().String(norm.NFKD.String(name))
	name = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn, unicode.Cf) || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, name)
	return twins.Replace(twins.Replace(name))
}
