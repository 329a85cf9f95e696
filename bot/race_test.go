//go:build race

package bot_test

func init() {
	seeds, weekSeeds, weeksAgain, walks = 50, 2, 1, 8
	triedStates = []string{"open", "black", "erasing", "stopped"}
}
