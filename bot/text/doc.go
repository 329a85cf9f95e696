// Package text has the words of the bot: everything that people read besides the
// rules themselves, in English, German and Japanese.
//
// Code says what it means by key, with typed arguments, and never in words:
//
//	m := text.Say("ahead", text.Color(rules.Black), rules.Points(7))
//
// A [Message] is stored as it is. It becomes words when it is delivered, in the
// language of its readers and with the names that people go by at that time:
//
//	text.BestLanguage("de-AT").Say(m) // "Schwarz +3½"
//
// The English words are in english.go, those of other languages in lang/TAG.json.
// Plural forms follow Unicode's CLDR: beside "thing.prisoner" stands
// "thing.prisoner.one", which a first argument of 1 chooses in English.
//
// Words tell people to give a command with its named options,
// "{/new rules:two-button size:9x9}", never with what one platform calls it.
//
// A worded text may still hold commands, instants and links to rooms, which platforms
// write in their own ways: an adapter passes it through [Fill].
//
// The package knows no game of the bot and no platform; a person is an id to it.
package text
