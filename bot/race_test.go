//go:build race

package bot_test

func init() { seeds, weekSeeds = 50, 4 }
