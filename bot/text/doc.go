// Package text holds the words of the bot: everything that people read besides the
// rules themselves, in English, German and Japanese.
//
// Code refers to a text by its key, with typed arguments, and never contains words:
//
//	m := text.Say("ahead", text.Color(rules.Black), rules.Points(7))
//
// A [Message] is stored as it is. It becomes words on delivery, in the language of its
// readers and with the names that people have at that time:
//
//	text.BestLanguage("de-AT").Say(m) // "Schwarz +3½"
//
// The English words are in english.go, those of other languages in lang/TAG.json.
// Plural forms follow Unicode's CLDR: in English a first argument of 1 chooses
// "thing.prisoner.one" instead of "thing.prisoner".
//
// Texts name commands with their options as "{/new rules:two-button size:9x9}", never as
// a particular platform writes them.
//
// A worded text may still contain commands, instants and links to rooms, which platforms
// write in their own ways: an adapter passes it through [Fill].
//
// The package knows neither games nor platforms; it refers to people by id.
package text
