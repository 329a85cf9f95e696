//go:build race

package rules

func init() { raceDetector = true }
