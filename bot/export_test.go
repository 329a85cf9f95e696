package bot

// Told makes a request of which Ask returns the answer alone.
func Told(r Request) Request {
	r.told = true
	return r
}
