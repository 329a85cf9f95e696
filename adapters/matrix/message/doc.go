// Package message makes the content of what the bot says on Matrix: bodies in
// plain text and in the specification's HTML, captions, mentions, threads,
// edits, reactions, and the blurred picture that stands in until a picture is
// loaded. It is pure: the same input gives the same content.
//
// What it makes stays below the size of an event, 65,536 bytes, encrypted and
// with its envelope; what is too long is cut.
//
// Sources: the Matrix specification 1.18, client-server API, "Instant
// messaging", "User and room mentions", "Threading", "Event replacements".
package message
