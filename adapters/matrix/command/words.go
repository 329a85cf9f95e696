package command

// The adapter's own replies to typed messages.
const wordTooLong = "That is too long: at most {0} bytes."
