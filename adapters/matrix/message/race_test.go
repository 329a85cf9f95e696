//go:build race

package message_test

func init() { few = 1000 }
