//go:build race

package web

func init() { clubShort = true }
