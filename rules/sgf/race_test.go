//go:build race

package sgf

func init() { raceDetector = true }
