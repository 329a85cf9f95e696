package contest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/standings"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Limits of an event.
const (
	MaxPlayers  = 200
	MinGroup    = 4 // players of a group, unless there are fewer
	MaxGroup    = 8
	maxBooks    = 3  // rulesets of an event
	maxRounds   = 12 // of a Swiss
	usualRounds = 5
	maxRobin    = 16 // players of a round robin in rounds
	maxTitle    = 60 // characters

	minLasts  = time.Hour
	maxLasts  = 366 * day
	maxSignUp = 180 * day
	day       = 24 * time.Hour
)

// A System says who meets whom.
type System string

// The systems.
const (
	Groups     System = "groups"     // everybody in a group plays everybody else, all games at once
	RoundRobin System = "roundrobin" // the same in rounds, in one group
	Swiss      System = "swiss"      // each round pairs players of about the same score
	McMahon    System = "mcmahon"    // the same, but strong players start with more points
	Knockout   System = "knockout"   // who loses is out
)

// Terms are what an organiser chooses. In JSON, as in the log, names never change.
type Terms struct {
	Name   string        `json:"title"`
	Rules  []string      `json:"rules"` // ids of rulesets; with several each pairing has a game under each
	Width  int           `json:"width"`
	Height int           `json:"height"`
	Komi   *int          `json:"komi,omitempty"` // half points; nil: that of the ruleset
	System System        `json:"system"`
	Seats  int           `json:"seats,omitempty"` // 0: MaxPlayers
	Until  time.Time     `json:"until"`           // of the sign-up
	Ranks  bool          `json:"ranks,omitempty"` // players declare a rank
	Group  int           `json:"group,omitempty"` // players of a group at most
	Rounds int           `json:"rounds,omitempty"`
	Lasts  time.Duration `json:"lasts"` // the league, or a round of it; in nanoseconds
	Lot    int64         `json:"lot,omitempty"`
	Ties   []string      `json:"ties,omitempty"` // what orders players with equal scores, see TieBreaks; nil: sos, direct
}

// A Draft is what an organiser has chosen so far. It is kept a day.
type Draft map[string]string

// Chosen lists the options that make the terms of an event, in the order of the questions.
var Chosen = []string{"title", "rules", "size", "komi", "system", "group", "rounds", "seats", "until", "ranks", "days", "ties"}

// Encode returns the written form of a draft.
func (d Draft) Encode() string {
	text, _ := json.Marshal(d) // a map of strings can be encoded
	return string(text)
}

// ParseDraft reads what Encode returns. If there is no draft, text is empty, and d is nil: a
// draft without any choice is one, too.
func ParseDraft(text string) (d Draft, err error) {
	if text == "" {
		return nil, nil
	}
	err = json.Unmarshal([]byte(text), &d)
	return d, err
}

// Terms reads a draft at a time, in the time zone of its author. The errors say all that is
// wrong with it.
func (d Draft) Terms(own match.Rulesets, room match.RoomSettings, zone *time.Location, now time.Time) (t Terms, wrong []error) {
	for _, read := range []func(*Terms) error{
		func(t *Terms) error { return d.rules(t, own, room) }, d.title, d.board, d.system,
		func(t *Terms) error { return d.until(t, zone, now) }, d.lasts, d.ties,
	} {
		if err := read(&t); err != nil {
			wrong = append(wrong, err)
		}
	}
	return t, wrong
}

// title reads the name of the event, by default that of the ruleset.
func (d Draft) title(t *Terms) error {
	t.Name = strings.Join(strings.Fields(d["title"]), " ")
	if n := len([]rune(t.Name)); n > maxTitle {
		return text.Error("event.bad.title", strconv.Itoa(maxTitle), strconv.Itoa(n))
	}
	if t.Name != "" || len(t.Rules) == 0 {
		return nil
	}
	r, err := rules.Find(t.Rules[0])
	if err == nil {
		t.Name = r.Title
	}
	return err
}

func (d Draft) rules(t *Terms, own match.Rulesets, room match.RoomSettings) error {
	typed := cmp.Or(d["rules"], room.Rules, rules.TwoButton.Name)
	for name := range strings.SplitSeq(typed, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		r, err := own.Find(name)
		if err != nil {
			t.Rules = nil
			return err
		}
		t.Rules = append(t.Rules, r.Stored())
	}
	if n := len(t.Rules); n == 0 || n > maxBooks {
		return text.Error("event.bad.rules", strconv.Itoa(maxBooks))
	}
	return nil
}

func (d Draft) board(t *Terms) error {
	t.Width, t.Height = 9, 9
	if size := d["size"]; size != "" {
		w, h, ok := match.ParseSize(size)
		if !ok {
			return text.Error("bad.size", text.Shorten(size))
		}
		t.Width, t.Height = w, h
	}
	if komi := d["komi"]; komi != "" && komi != "default" {
		k, err := rules.ParsePoints(komi)
		if err == nil && max(k, -k) > rules.MaxKomi {
			err = rules.Saying{Text: "{0} is too large", Args: []any{k}}
		}
		if err != nil {
			return text.Error("bad.komi", text.Sentence(err))
		}
		t.Komi = new(int(k))
	}
	return nil
}

func (d Draft) system(t *Terms) (err error) {
	switch t.System = System(strings.ToLower(cmp.Or(d["system"], string(Groups)))); t.System {
	case Groups:
		if t.Group, err = d.number("group", MinGroup, MaxGroup, MaxGroup); err != nil {
			return err
		}
	case Swiss, McMahon:
		if t.Rounds, err = d.number("rounds", 1, maxRounds, usualRounds); err != nil {
			return err
		}
	case RoundRobin, Knockout:
	default:
		return text.Error("event.bad.system", text.Shorten(d["system"]))
	}
	t.Ranks = d["ranks"] == "yes" || t.System == McMahon
	most := MaxPlayers
	if t.System == RoundRobin {
		most = maxRobin
	}
	if t.Seats, err = d.number("seats", 2, most, 0); t.Seats == 0 && most < MaxPlayers {
		t.Seats = most
	}
	switch {
	case err != nil:
		return err
	case (t.System == McMahon || t.System == Knockout) && len(t.Rules) > 1:
		return text.Error("event.one.ruleset")
	case t.System == Knockout && len(t.Rules) == 1:
		return t.decisive()
	}
	return nil
}

// number reads a whole number of a draft.
func (d Draft) number(option string, least, most, otherwise int) (int, error) {
	typed := strings.TrimSpace(d[option])
	if typed == "" || typed == "default" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(typed)
	if err != nil || n < least || n > most {
		return 0, text.Error("event.bad.number", option, strconv.Itoa(least), strconv.Itoa(most), text.Shorten(typed))
	}
	return n, nil
}

// defaultSignUp is how long people may join, if the organiser does not say.
const defaultSignUp = 7 * day

func (d Draft) until(t *Terms, zone *time.Location, now time.Time) (err error) {
	t.Until = now.Add(defaultSignUp).Truncate(time.Minute)
	if typed := strings.TrimSpace(d["until"]); typed != "" {
		if t.Until, err = ParseTime(typed, zone, now); err != nil {
			return err
		}
	}
	if wait := t.Until.Sub(now); wait <= 0 || wait > maxSignUp {
		return text.Error("event.bad.until", clock.InstantText(t.Until, now))
	}
	return nil
}

// ParseTime reads when something ends: "3d", "12h", "2026-12-20" for the end of that day, or
// "2026-12-20 18:00", in a time zone. In the hour that daylight saving skips it is as much
// later as the clocks are put forward.
func ParseTime(typed string, zone *time.Location, now time.Time) (time.Time, error) {
	typed = strings.TrimSpace(typed)
	if length, ok := clock.ParseLength(typed); ok {
		return now.Add(length).Truncate(time.Minute).UTC(), nil
	}
	if at, err := time.ParseInLocation("2006-01-02 15:04", strings.Replace(typed, "T", " ", 1), zone); err == nil {
		return at.UTC(), nil
	}
	if date, err := time.ParseInLocation("2006-01-02", typed, zone); err == nil {
		return date.AddDate(0, 0, 1).UTC(), nil
	}
	return time.Time{}, text.Error("event.bad.time", text.Shorten(typed))
}

// decisive refuses a knock-out of games that may be drawn. By its theorem a ruleset gives
// Black whole points more than White, or half a point beside whole ones; the komi must not be
// able to make up for that.
func (t *Terms) decisive() error {
	r, err := rules.Find(t.Rules[0])
	if err != nil {
		return err
	}
	komi := r.Komi
	if t.Komi != nil {
		komi = rules.Points(*t.Komi)
	}
	switch difference, known := r.Difference(0, 0); {
	case !known || r.Has(rules.Draw):
		return text.Error("event.knockout.draws", r.Title)
	case (difference-komi)%rules.One == 0:
		return text.Error("event.knockout.komi", r.Title, text.Points(komi), text.Points(komi+rules.Half))
	}
	return nil
}

// defaultLasts is how long a league takes, if the organiser does not say, and defaultRound a
// round of another system.
const (
	defaultLasts = 28 * day
	defaultRound = 14 * day
)

func (d Draft) lasts(t *Terms) error {
	t.Lasts = defaultLasts
	if t.System != Groups {
		t.Lasts = defaultRound
	}
	if typed := strings.TrimSpace(d["days"]); typed != "" {
		if n, err := strconv.Atoi(typed); err == nil {
			typed = fmt.Sprint(n, "d")
		}
		var ok bool
		if t.Lasts, ok = clock.ParseLength(typed); !ok || t.Lasts < minLasts || t.Lasts > maxLasts {
			return text.Error("event.bad.days", text.Shorten(d["days"]))
		}
	}
	return nil
}

// TieBreaks are what may order players with equal scores: the sum of the opponents' scores,
// the games among those who are tied, and the sum of the scores of the opponents whom a player
// defeated.
var TieBreaks = map[string]standings.TieBreak{"sos": standings.SOS, "direct": standings.Direct, "sodos": standings.SODOS}

func (d Draft) ties(t *Terms) error {
	for name := range strings.SplitSeq(d["ties"], ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, known := TieBreaks[name]; name != "" && (!known || slices.Contains(t.Ties, name)) {
			return text.Error("event.bad.ties", text.Shorten(name))
		}
		if name != "" {
			t.Ties = append(t.Ties, name)
		}
	}
	return nil
}

// NoRank is the rank of somebody who has not declared one.
const NoRank = -100

// ParseRank reads a rank: "12k" is -12, "1k" -1, "1d" 0, "7d" 6. The weakest is 30k, the
// strongest 9d.
func ParseRank(typed string) (int, error) {
	typed = strings.ToLower(strings.TrimSpace(typed))
	if len(typed) >= 2 {
		n, err := strconv.Atoi(typed[:len(typed)-1])
		switch kind := typed[len(typed)-1]; {
		case err != nil || n < 1:
		case kind == 'k' && n <= 30:
			return -n, nil
		case kind == 'd' && n <= 9:
			return n - 1, nil
		}
	}
	return NoRank, text.Error("event.bad.rank", text.Shorten(typed))
}

// RankName writes a rank as ParseRank reads it; "" for NoRank.
func RankName(rank int) string {
	switch {
	case rank == NoRank:
		return ""
	case rank < 0:
		return strconv.Itoa(-rank) + "k"
	}
	return strconv.Itoa(rank+1) + "d"
}
