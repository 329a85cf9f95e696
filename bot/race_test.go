//go:build race

package bot_test

func init() { seeds = 50 }
