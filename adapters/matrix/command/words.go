package command

// What the adapter itself says of what was typed.
const wordTooLong = "That is too long: at most {0} bytes."
