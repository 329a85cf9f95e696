package render

import "io"

// A Picture can be drawn, and described to people who do not see it: a [Scene], a [Chart]
// or a [Sheet].
type Picture interface {
	// Draw writes a PNG. What o leaves out is as the picture's own Look has it.
	Draw(w io.Writer, o Options) error
	// Text says what the picture shows, in at most [MaxText] characters.
	Text() string
	// Letters draws it in letters, for where they stand in columns.
	Letters() string
}

// Picture returns the scene as a picture; none of nil.
func (s *Scene) Picture() Picture {
	if s == nil {
		return nil
	}
	return *s
}

// Draw is [PNG].
func (s Scene) Draw(w io.Writer, o Options) error { return PNG(w, s, o) }

// Text is the function [Text].
func (s Scene) Text() string { return Text(s) }

// Letters is [TextBoard].
func (s Scene) Letters() string { return TextBoard(s) }
