// Package message makes the content of what the bot says on Matrix: bodies in
// plain text and in the specification's HTML, captions, mentions, threads,
// edits, reactions, and the blurred picture that stands in until a picture is
// loaded. It is pure: the same input gives the same content.
//
// Messages stay below the size of an event, 65,536 bytes, encrypted and with their
// envelope; longer ones are cut.
//
// Sources: the Matrix specification 1.18, client-server API, "Instant
// messaging", "User and room mentions", "Threading", "Event replacements".
package message
