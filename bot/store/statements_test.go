package store

// OnStatement has f called with the text of each statement that stores opened from
// now on run, until the function that it returns is called.
func OnStatement(f func(text string)) (stop func()) {
	onStatement = f
	return func() { onStatement = nil }
}
