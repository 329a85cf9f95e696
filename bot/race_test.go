//go:build race

package bot_test

func init() {
	seeds, weekSeeds, walks = 50, 4, 8
	triedStates = []string{"open", "black", "erasing", "stopped"}
}
