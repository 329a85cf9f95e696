// Package command turns what people type on Matrix into requests.
//
// A command begins with "!", with "/" if the client passes that on, or with the name of
// the bot if it is mentioned; in a room of the bot and one person it needs no prefix.
// All other messages are chat, which the bot ignores. The package is pure.
package command
