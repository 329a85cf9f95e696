//go:build race

package discord

func init() { manyServers = 250 }
