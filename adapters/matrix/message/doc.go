// Package message makes the content of the bot's messages on Matrix: bodies in plain
// text and in the specification's HTML, captions, mentions, threads, edits, reactions,
// and the blurred preview that clients show until a picture is loaded. It is pure: the
// same input makes the same content.
//
// It cuts messages that would exceed the size limit of an event, 65,536 bytes, when they
// are encrypted and in their envelope.
//
// Sources: the Matrix specification 1.18, client-server API, "Instant
// messaging", "User and room mentions", "Threading", "Event replacements".
package message
