package match

import "github.com/halfpoint-go/halfpoint/bot/text"

func say(key string, args ...any) text.Message { return text.Say(key, args...) }

func named(p PersonID) text.Arg { return text.Somebody(string(p)) }

// shortened cuts what somebody typed to a length fit for an answer.
func shortened(s string) string { return text.Shorten(s) }

// wrong returns the message of an error that is for the person who typed.
func wrong(err error) text.Message { return text.Explain(err) }
