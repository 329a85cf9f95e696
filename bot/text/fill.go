package text

import (
	"strconv"
	"strings"
	"time"
)

// A Format is how a platform writes what it has a way of its own for. A nil function
// leaves the words as they are.
type Format struct {
	Time func(t time.Time, words string) string // an instant; words are "Wed 12 Nov, 14:00 UTC"
	Room func(to Place, words string) string    // a place that somebody may want to go to
}

// A Place is a channel of a platform, or a thread in it.
type Place struct{ Platform, Channel, Thread string }

// Fill returns what people read of a worded text: instants and rooms in it are
// written as f writes them. Every adapter passes the Text of what it shows through
// it; the zero Format leaves plain words.
func Fill(text string, f Format) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, markBegin)
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		inner, after, _ := strings.Cut(rest, markEnd)
		text = after
		what, words, _ := strings.Cut(inner, markWords)
		if ms, err := strconv.ParseInt(what, 10, 64); err == nil {
			if f.Time != nil {
				words = f.Time(time.UnixMilli(ms), words)
			}
		} else if part := strings.Split(what, roomParts); len(part) == 3 && f.Room != nil {
			words = f.Room(Place{part[0], part[1], part[2]}, words)
		}
		out.WriteString(words)
	}
}

// The marks around the parts that Fill fills in. Typed text cannot contain them: see
// [Typed].
const (
	markBegin = "\x03"
	markWords = "\x04"
	markEnd   = "\x05"
	roomParts = "\x06"
)

// Instant is an argument for an instant, which a platform may write in its own way;
// words are in the zone of the reader.
func Instant(t time.Time, words Message) Message { return Say("instant", t.UnixMilli(), words) }

// Link is an argument for a place, of which a platform may make a link.
func Link(to Place, words Message) Message {
	return Say("room", to.Platform+roomParts+to.Channel+roomParts+to.Thread, words)
}
