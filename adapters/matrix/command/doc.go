// Package command makes requests of what people type on Matrix.
//
// A command begins with "!", "/" where the client sends it on, or with the name
// of the bot when it is mentioned; in a room of the bot and one person it needs
// no beginning. Any other message is conversation, and none of the bot's
// business. The package is pure.
package command
