package sgf

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A property has a name of one or two capital letters. Before FF[4] it could be written with
// small ones among them, "SiZe", and some programs and people write words, "Size".

// wordsOf are properties as people call them, in small letters.
var wordsOf = func() map[string]string {
	names := map[string]string{}
	for line := range strings.Lines(`
		SZ size board boardsize boardsz goban gobansize
		KM komi kommi komidashi dedommagement
		HA handicap handicaps handi hcap handicapstones
		RU rules rule ruleset
		RE result winner
		PL player toplay playertoplay playertomove nextplayer turn
		GM game gametype
		B black blackmove moveblack blackstone
		W white whitemove movewhite whitestone
		AB addblack blackstones
		AW addwhite whitestones
		AE addempty
		TB territoryblack blackterritory
		TW territorywhite whiteterritory
		PB playerblack blackplayer blackname
		PW playerwhite whiteplayer whitename
		BR blackrank rankblack
		WR whiterank rankwhite
		GN gamename
		EV event
		RO round
		PC place
		DT date
		OT overtime
		AP application`) {
		prop, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		for word := range strings.FieldsSeq(words) {
			names[word] = prop
		}
	}
	return names
}()

// telling are parts of names that no reader may pass over without a word.
var telling = []string{"size", "komi", "handicap", "black", "white", "move", "stone"}

// spellings finds the properties that names mean, and remembers what it took for one.
type spellings struct {
	name   []byte // of the property that is being read, if it needs to be said
	means  string // which property that is, "" if it is passed over
	read   []string
	passed []string
	moves  []string // unknown ones that may be moves
	empty  []string // known ones without a value
}

const (
	otherNames   = "other names of properties are understood: {0}"
	unknownNames = "unknown properties are passed over: {0}"
)

const (
	maxSpellings = 12 // names that are told one by one
	maxName      = 60 // letters of a name
)

// find returns the property that a name of two letters or more means, "" if it is one that
// Read passes over.
func (s *spellings) find(name []byte) string {
	if prop, ok := known[string(name)]; ok {
		return prop
	}
	if len(name) > maxName {
		return ""
	}
	legal := string(ident(name))
	prop, standard := known[legal]
	if upper, ok := known[strings.ToUpper(string(name))]; ok {
		prop = upper
	} else if word := wordsOf[strings.ToLower(string(name))]; word != "" {
		prop = word
	}
	quiet := prop == legal || prop == "" && (len(legal) > 1 && standard || !tells(name))
	if quiet && legal != "B" && legal != "W" {
		return prop
	}
	s.name, s.means = name, prop
	return prop
}

// tells reports whether a name may be that of a property that makes another game.
func tells(name []byte) bool {
	low := strings.ToLower(string(name))
	return slices.ContainsFunc(telling, func(part string) bool { return strings.Contains(low, part) })
}

// spaced returns the property of two letters that a space divides, "S Z[9]", and its length; 0 if
// a text does not begin with one.
func (s *spellings) spaced(text []byte) (prop string, n int) {
	if len(text) < 4 || text[1] != ' ' || text[3] != '[' {
		return "", 0
	}
	if prop = known[string(text[0])+string(text[2])]; prop == "" {
		return "", 0
	}
	s.name, s.means = text[:3], prop
	return prop, 3
}

// numbered returns the property that a name with a number means: "B12" is a move if the
// next one has that number, among all or among Black's.
func (s *spellings) numbered(prop string, name []byte, next int) string {
	if prop == "" || prop == "?" {
		return prop
	}
	digits := bytes.TrimLeftFunc(name, unicode.IsLetter)
	n, err := strconv.Atoi(string(digits))
	if s.name, s.means = name, ""; len(prop) == 1 && err == nil && (n == next || n == (next+1)/2) {
		s.means = prop
	}
	return s.means
}

// of returns the property of a value, and notes its name. "Black" and "White" are moves,
// but in the first node, with no point, the players.
func (s *spellings) of(prop string, value []byte, first bool) string {
	name := s.name
	s.name = nil
	if legal := string(ident(name)); s.means == "" && len(name) == 2 && isPoint(value) && known[legal] != "" {
		prop, s.means = legal, legal // "Bl" for Black, and not for his time
	}
	if prop == "B" || prop == "W" {
		if first && (strings.EqualFold(string(name), "black") || strings.EqualFold(string(name), "white")) && isPlayer(simpleText(string(value))) {
			prop, s.means = "P"+prop, "P"+prop
		} else if s.means == string(ident(name)) {
			return prop // as it was legal
		}
	}
	if s.means == "" {
		note(&s.passed, name, "")
	} else {
		note(&s.read, name, " ("+s.means+")")
	}
	return prop
}

// note adds a name to a list, once for all its numbers.
func note(list *[]string, name []byte, means string) {
	what := cut(name, 20) + means
	unnumbered := func(s string) string { return strings.Join(strings.FieldsFunc(s, unicode.IsDigit), "") }
	same := func(s string) bool { return unnumbered(s) == unnumbered(what) }
	if len(*list) < maxSpellings && !slices.ContainsFunc(*list, same) {
		*list = append(*list, what)
	}
}

// unmoved notes a property that Read passes over, before the first move, if its value
// may be one.
func (s *spellings) unmoved(name, value []byte) {
	name, _, _ = bytes.Cut(name, []byte("[")) // of the value before, if there is one
	name = bytes.TrimRight(name, space)
	if _, standard := known[string(ident(name))]; isPoint(value) && !standard {
		note(&s.moves, name, "")
	}
}

// isPlayer reports whether a value of "Black" can only be a name.
func isPlayer(value string) bool {
	_, err := point(value, 19)
	_, word := spelled[strings.ToLower(value)]
	return err != nil && value != "" && !word
}

// valueless notes a property without a value if it is one of the board or a move, or is written
// as properties are. GNU Go writes such ones in the first node for stones where there are none.
func (s *spellings) valueless(prop string, name []byte, first bool) {
	switch {
	case first && (prop == "AB" || prop == "AW" || prop == "AE"):
	case len(prop) == 1 && prop != "?" || prop == "SZ" || prop == "KM" || prop == "HA":
		note(&s.empty, []byte(prop), "")
	case len(name) <= 2 && !slices.ContainsFunc(name, func(c byte) bool { return !isCapital(c) }):
		note(&s.empty, name, "")
	}
}

func isPoint(value []byte) bool { return len(value) == 2 && value[0] >= 'a' && value[1] >= 'a' }

// repairs tells which names were understood, and which were not, of a record with a number
// of turns.
func (s *spellings) repairs(turns int) (out []Repair) {
	if len(s.read) > 0 {
		out = append(out, Repair{What: says(otherNames, strings.Join(s.read, ", "))})
	}
	if len(s.passed) > 0 {
		out = append(out, Repair{What: says(unknownNames, strings.Join(s.passed, ", "))})
	}
	if len(s.empty) > 0 {
		out = append(out, Repair{What: says("properties without a value are passed over: {0}", strings.Join(s.empty, ", "))})
	}
	if turns == 0 && len(s.moves) > 0 {
		out = append(out, Repair{What: says("no move is read, and these properties are unknown: {0}", strings.Join(s.moves, ", "))})
	}
	return out
}

// ident returns the name of a property: its capital letters, since before FF[4] it was
// legal to write the others of "White" in small ones, or all of one that has none.
func ident(name []byte) []byte {
	small := func(c byte) bool { return c >= 'a' }
	if !slices.ContainsFunc(name, small) {
		return name
	}
	if capitals := slices.DeleteFunc(slices.Clone(name), small); len(capitals) > 0 {
		return capitals
	}
	return bytes.ToUpper(name)
}

func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' }
