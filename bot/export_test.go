package bot

// Told makes a request of which Ask returns the answer alone.
func Told(r Request) Request {
	r.told = true
	return r
}

// Meet lets a bot know the members of an adapter's rooms, without running it.
func (b *Bot) Meet(a Adapter) { b.meet([]Adapter{a}) }
