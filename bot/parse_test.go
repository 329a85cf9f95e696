package bot_test

import (
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
)

// People leave out colons, and put the names of options into any place.
func TestParse(t *testing.T) {
	for typed, want := range map[string]string{
		"/new two-button 9x9 komi 7": "new rules=two-button size=9x9 komi=7",
		"／ｎｅｗ　ｔｗｏ-ｂｕｔｔｏｎ　９ｘ９　ｋｏｍｉ：６．５": "new rules=two-button size=9x9 komi=6.5",
		"/place Ｅ５": "place at=E5", "/dead Ｃ３ Ｄ５ ａｓ：ａｌｉｖｅ": "dead points=C3 D5 as=alive", "/comment ＧＧ！": "comment text=ＧＧ！",
		"/new opponent @ＢＥＮ":    "new opponent=@ＢＥＮ",
		"／ｎｅｗ　ｏｐｐｏｎｅｎｔ：Ｂｏｂ　９ｘ９": "new rules=9x9 opponent=Ｂｏｂ", "/new opponent ﾀﾛｳ": "new opponent=ﾀﾛｳ",
		"/new komi 7 handicap 2 clock 3d":                         "new komi=7 handicap=2 clock=3d",
		"/new clock fischer 7d+1d max 14d komi 6.5 hints no":      "new komi=6.5 hints=no clock=fischer 7d+1d max 14d",
		"/new 9x9 hints clock 3d weekends night 23-7 color=w":     "new rules=9x9 color=w hints=yes clock=3d weekends night 23-7",
		"/new Area Rules II 9x9 Komi 0":                           "new rules=Area Rules II size=9x9 komi=0",
		"/new 13x13 rules two button komi 0":                      "new rules=13x13 size=rules two button komi=0", // which the bot turns round
		"/new 9x9 opponent opponent:@bob:example.org komi 7":      "new rules=9x9 komi=7 opponent=@bob:example.org",
		`/event new title:"Spring league 2027" rules:aga days:3`:  "event what=new title=Spring league 2027 rules=aga days=3",
		`/event new title:„Frühjahr und so“ size:9x9`:             "event what=new title=Frühjahr und so size=9x9",
		`/event new title:「春 リーグ」 days:3`:                         "event what=new title=春 リーグ days=3",
		`/event new title:"Spring league days:3`:                  `event what=new player=league title="Spring days=3`, // never closed
		`/event new rules:"aga, button" title:"A"`:                "event what=new title=A rules=aga, button",
		"/new opponent me":                                        "new opponent=me",
		"/new 9x9 komi":                                           "new rules=9x9 size=komi",
		"/new komi handicap 2":                                    "new rules=komi handicap=2",
		"/compare C3 share":                                       "compare dead=C3 share=yes",
		"/compare share C3 D4 all":                                "compare dead=C3 D4 all=yes share=yes",
		"/compare C3 D4 game 3 share no":                          "compare dead=C3 D4 game=3 share=no",
		"/score share why":                                        "score why=yes share=yes",
		"/score 3 theory ledger:no share":                         "score game=3 ledger=no theory=yes share=yes",
		"/score game 3 why yes":                                   "score game=3 why=yes",
		"/why share":                                              "score why=yes share=yes",
		"/score 3 yes":                                            "score game=3 why=yes",
		"/score 3 please":                                         "I do not know what to do with “please” in /score. Type: /score [game] [why] [ledger] [theory] [share]",
		"/board move 3 share":                                     "board move=3 share=yes",
		"/replay from 3 to 20 game 2":                             "replay from=3 to=20 game=2",
		"/rules name two-button share":                            "rules name=two-button share=yes",
		"/demo share pass-fight step 2":                           "demo lesson=pass-fight step=2 share=yes",
		"/dead C3 D5 as alive":                                    "dead points=C3 D5 as=alive",
		"/dead as seki C3 D5 game 2":                              "dead points=C3 D5 as=seki game=2",
		"/handicap points D4 Q16":                                 "place at=D4 Q16 handicap=yes",
		"/pass anyway":                                            "pass anyway=yes",
		"/delete how cancel yes":                                  "delete confirm=yes how=cancel",
		"/clock pause":                                            "clock pause=yes",
		"/clock pause off 3":                                      "clock game=3 pause=off",
		"/settings language de whose mine":                        "settings language=de whose=mine",
		"/remind how direct quiet 22-7 zone Europe/Paris":         "remind how=direct quiet=22-7 zone=Europe/Paris",
		"/comment move 12 and share it":                           "comment text=move 12 and share it",
		"/comment move:12 text: game 3 was\nbetter":               "comment text=game 3 was⏎better move=12",
		"/show share .X. share rules aga":                         "show diagram=.X. share rules aga share=yes",
		"/show share no":                                          "show diagram=no share=yes",
		"/setup rules:aga .X.\ngame .O.":                          "setup diagram=.X.⏎game .O. rules=aga",
		`/new "two button" 9x9 clock:"byoyomi 10d 3x2d" komi:“7”`: "new rules=two button size=9x9 komi=7 clock=byoyomi 10d 3x2d",
		`/new rules:"two-button" size:'9x9'`:                      "new rules=two-button size=9x9",
		`/place "D4"`:                                             "place at=D4",
		`/comment "tesuji"`:                                       `comment text="tesuji"`,
		"/help command new":                                       "help command=new",
	} {
		name, args, err := bot.Parse(typed)
		got := name
		for _, c := range bot.Commands() {
			for _, o := range c.Options {
				if v, given := args[o.Name]; given && c.Name == name {
					got += " " + o.Name + "=" + strings.ReplaceAll(v, "\n", "⏎")
					delete(args, o.Name)
				}
			}
		}
		if err != nil {
			got = err.Error()
		} else if args["handicap"] != "" { // of an old name
			got += " handicap=" + args["handicap"]
		}
		if got != want {
			t.Errorf("%s is read as\n%s, not as\n%s", typed, got, want)
		}
	}
}
