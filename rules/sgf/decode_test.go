package sgf

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// encoded returns text in an encoding.
func encoded(t testing.TB, e encoding.Encoding, text string) string {
	t.Helper()
	out, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Characters whose second byte is the code of a bracket or a backslash do not end a
// value, and what follows them is read.
func TestBracketsWithinCharacters(t *testing.T) {
	for name, x := range map[string]struct {
		encoding encoding.Encoding
		names    string
	}{
		"Shift_JIS": {japanese.ShiftJIS, "ソ十表能予 貼申構"}, // 0x5c
		"GBK":       {simplifiedchinese.GBK, "俓俔乗乘"},
		"Big5":      {traditionalchinese.Big5, "許功蓋 程崛"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := read(t, encoded(t, x.encoding, "(;GM[1]FF[3]CA["+name+"]PB["+x.names+"]SZ[9]KM[6.5]RU[Japanese]PW[x];B[ee];W[cc];B[gg])"))
			if rec.Info.Black != x.names || rec.Info.White != "x" || rec.Setup.W != 9 || len(rec.Turns) != 3 || len(rec.Repairs) != 0 {
				t.Errorf("%+v", rec)
			}
		})
	}
}

// The euro, a single byte of GBK, leaves the bracket after it alone.
func TestBracketAfterAByte(t *testing.T) {
	if rec := read(t, "(;CA[GBK]SZ[9]PB[\xc1\xd6\x80];B[ee])"); rec.Info.Black != "林€" {
		t.Errorf("%q", rec.Info.Black)
	}
}

// What does not say how it is encoded is recognized, and that is said.
func TestEncodings(t *testing.T) {
	const unsaid = "the record does not name its encoding: it is read as "
	japaneseGame := "(;GM[1]SZ[19]EV[第70期本因坊戦]RO[挑戦手合第1局]PB[井山裕太]BR[本因坊]PW[山下敬吾]WR[九段]RE[黒中押勝ち]DT[2015年5月];B[pd])"
	chineseGame := "(;GM[1]SZ[19]EV[第3届应氏杯世界职业围棋锦标赛]PB[李昌镐]BR[九段]PW[马晓春]WR[九段]RE[黑中盘胜]RU[中国规则];B[pd])"
	for name, x := range map[string]struct {
		encoding encoding.Encoding
		record   string
		black    string
		assumed  string
	}{
		"Shift_JIS":                  {japanese.ShiftJIS, japaneseGame, "井山裕太", unsaid + "Shift_JIS"},
		"Shift_JIS, one name":        {japanese.ShiftJIS, "(;PB[趙治勲])", "趙治勲", unsaid + "Shift_JIS"},
		"Shift_JIS, kana":            {japanese.ShiftJIS, "(;PB[ソンポール]C[ありがとうございました])", "ソンポール", unsaid + "Shift_JIS"},
		"Shift_JIS, said":            {japanese.ShiftJIS, "(;CA[SHIFT-JIS]PB[趙治勲])", "趙治勲", ""},
		"Shift_JIS, said in full":    {japanese.ShiftJIS, "(;SiZe[9]ChArset[Shift_JIS]PB[趙治勲])", "趙治勲", ""},
		"Shift_JIS, said by name":    {japanese.ShiftJIS, "(;CA[cp932]PB[趙治勲])", "趙治勲", ""},
		"ISO-2022-JP":                {japanese.ISO2022JP, japaneseGame, "井山裕太", unsaid + "ISO-2022-JP"},
		"ISO-2022-JP, brackets":      {japanese.ISO2022JP, "(;CA[iso-2022-jp]PB[竹宮 丸]PW[旬]SZ[9];B[ee])", "竹宮 丸", ""},
		"HZ":                         {encoding.Nop, "(;SZ[19]PB[~{@n2}8d~}]EV[~{;[];~}];B[pd])", "李昌镐", unsaid + "HZ-GB2312"},
		"HZ, said":                   {encoding.Nop, "(;CA[HZ-GB-2312]SZ[19]PB[~{@n2}8d~}];B[pd])", "李昌镐", ""},
		"a tilde and a brace":        {encoding.Nop, "(;SZ[19]PB[~{x}~];B[pd])", "~{x}~", ""},
		"ISO-2022-JP, broken off":    {encoding.Nop, "(;PB[a\x1b$Bb])", "a $Bb", ""},
		"GB18030":                    {simplifiedchinese.GB18030, chineseGame, "李昌镐", unsaid + "GB18030"},
		"GB18030, two names":         {simplifiedchinese.GB18030, "(;PB[古力]PW[常昊])", "古力", unsaid + "GB18030"},
		"GB18030, said as GB2312":    {simplifiedchinese.GB18030, "(;CA[gb2312]PB[柯洁]PW[朴廷桓])", "柯洁", ""},
		"Big5":                       {traditionalchinese.Big5, "(;SZ[19]EV[第十屆中環盃圍棋賽]PB[周俊勳]PW[王立誠]BR[九段]RE[黑勝四目半];B[pd])", "周俊勳", unsaid + "Big5"},
		"Big5, said":                 {traditionalchinese.Big5, "(;CA[Big5]PB[林海峰])", "林海峰", ""},
		"EUC-KR":                     {korean.EUCKR, "(;SZ[19]EV[제15회 농심신라면배]PB[이세돌]BR[9단]PW[박정환]WR[9단]RE[백 불계승];B[pd])", "이세돌", unsaid + "EUC-KR"},
		"EUC-KR, said":               {korean.EUCKR, "(;CA[EUC-KR]PB[이창호])", "이창호", ""},
		"Windows-1252":               {charmap.Windows1252, "(;PB[Jürgen Groß]PW[François]C[Très bien, « à demain »])", "Jürgen Groß", unsaid + "Windows-1252"},
		"Latin-1, said as UTF-16":    {charmap.Windows1252, "(;SZ[9]CA[UTF-16]PB[Müller];B[aa];W[bb])", "Müller", "the record is not in the encoding UTF-16 that it names: it is read as Windows-1252"},
		"UTF-8, said as Latin-1":     {encoding.Nop, "(;CA[ISO-8859-1]PB[李昌镐])", "李昌镐", "the record names the encoding ISO-8859-1, but it is UTF-8"},
		"UTF-8, cut by a server":     {encoding.Nop, "(;CA[UTF-8]GN[李昌镐\xe7\x9b]PB[马晓春])", "马晓春", "the record is UTF-8 in which some characters are cut in two"},
		"Shift_JIS, said as UTF-8":   {japanese.ShiftJIS, "(;CA[UTF-8]PB[小林光一]PW[武宮正樹])", "小林光一", "the record is not in the encoding UTF-8 that it names: it is read as Shift_JIS"},
		"Shift_JIS, cut by a server": {encoding.Nop, "(;GM[1]SZ[19]GN[\x88\xe4\x8eR\x97T\x91\xbe\x96]PB[\x97\xd1];B[pd])", "林", unsaid + "Shift_JIS" + "some characters of the record are cut in two"},
		"GB18030, cut by a server":   {encoding.Nop, "(;GM[1]SZ[19]GN[\xc0\xee\xb2\xfd\xb8]PB[\xb9\xc5\xc1\xa6];B[pd])", "古力", unsaid + "GB18030" + "some characters of the record are cut in two"},
		"EUC-JP":                     {japanese.EUCJP, japaneseGame, "井山裕太", unsaid + "EUC-JP"},
		"EUC-JP, kana":               {japanese.EUCJP, "(;PB[ソンポール]C[ありがとうございました])", "ソンポール", unsaid + "EUC-JP"},
		"EUC-JP, said":               {japanese.EUCJP, "(;CA[EUC-JP]PB[趙治勲])", "趙治勲", ""},
		"Windows-1251":               {charmap.Windows1251, "(;SZ[19]PB[Динерштейн А.]PW[Шикшин Илья]EV[Чемпионат России];B[pd])", "Динерштейн А.", unsaid + "Windows-1251"},
		"Windows-1251, short names":  {charmap.Windows1251, "(;SZ[19]PB[Ким]PW[Пак];B[pd])", "Ким", unsaid + "Windows-1251"},
		"KOI8-R":                     {charmap.KOI8R, "(;SZ[19]PB[Динерштейн А.]PW[Шикшин Илья]EV[Чемпионат России];B[pd])", "Динерштейн А.", unsaid + "KOI8-R"},
		"Windows-1252, quotes":       {charmap.Windows1252, "(;PB[x]SZ[19]C[He said “yes” – “no”];B[pd]C[it’s];W[dd])", "x", unsaid + "Windows-1252"},
		"UTF-16, little end first":   {unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), chineseGame, "李昌镐", ""},
		"UTF-16, big end first":      {unicode.UTF16(unicode.BigEndian, unicode.UseBOM), chineseGame, "李昌镐", ""},
		"UTF-16 without a mark":      {unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), chineseGame, "李昌镐", ""},
		"UTF-16 of ASCII":            {unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "(;SZ[19]PB[Ada];B[pd])", "Ada", ""},
		"UTF-8, half of it cut":      {charmap.Windows1252, "(;CA[UTF-8]PB[Ã©]PW[Ã©]GN[ç ]SZ[19];B[pd])", "Ã©", "the record is not in the encoding UTF-8 that it names: it is read as Windows-1252"},
		"UTF-8 with a mark":          {encoding.Nop, "\ufeff" + japaneseGame, "井山裕太", ""},
	} {
		t.Run(name, func(t *testing.T) {
			rec := read(t, encoded(t, x.encoding, x.record))
			said := ""
			for _, r := range rec.Repairs {
				said += r.String()
			}
			if rec.Info.Black != x.black || said != x.assumed {
				t.Errorf("%q, %q", rec.Info.Black, said)
			}
			if strings.Contains(x.record, "B[pd]") && !strings.HasPrefix(turnsOf(rec), "B place Q16") {
				t.Error(turnsOf(rec))
			}
		})
	}
}

// Text beyond ASCII is looked at no further than needed, however long its lines are.
func TestSampleIsBounded(t *testing.T) {
	for _, n := range []int{sampleSize, sampleSize / 3} {
		long := []byte("(;SZ[9]\nPB[x]\n" + strings.Repeat("C["+strings.Repeat("\x88\xa1", n)+"]\n", 3))
		if got := sampled(long); len(got) != sampleSize || strings.Contains(string(got), "PB") {
			t.Errorf("%d bytes: %.20q", len(got), got)
		}
	}
}

// Flaws of a record that has a reading are repaired, and said.
func TestRepairs(t *testing.T) {
	for record, want := range map[string]string{
		"(;SZ[9];B[ee]":                                         "B place E5 / the record ends before its brackets close",
		"(;SZ[9];B[ee];W[e":                                     "B place E5 / the record ends before its brackets close",
		"(;SZ[9];B[ee];PB[x]SZ[9];B[aa])":                       "B place E5, B place A9 / move 1: the head of a game stands after the first move: another game may begin there", // another game
		"(;SZ[9];B[ee];W[gc](;GM[1]SZ[9];B[aa])":                "B place E5, W place G7, B place A9 / move 2: the head of a game stands after the first move: another game may begin there",
		"(;GM[1];B[ae];W[gc](;GM[1]SZ[9];B[aa])":                "B place A5, W place G7, B place A9 / move 2: the head of a game stands after the first move: another game may begin there",
		"(;SZ[9];W[ee];GM[1]SZ[9];W[aa])":                       "W place E5, W place A9 / move 1: the head of a game stands after the first move: another game may begin there",
		"(;SZ[9];B[ee];GM[1]W[gc])":                             "B place E5, W place G7 / ", // which says no more than Go
		"(;SZ[9];B[ee];PB[x]KM[0]W[gc])":                        "B place E5, W place G7 / ",
		"(;SZ[9];B[ee];PB[x]SZ[9]W[gc])":                        "B place E5, W place G7 / ",
		"(;PB[x]GM[1];SZ[9]KM[0];B[ee])":                        "B place E5 / ",
		"(;B[ee];SZ[9]KM[0];W[gc])":                             "B place E5, W place G7 / move 1: the head of a game stands after the first move: another game may begin there", // its own, and late
		"(;GM[1];B[ee];SZ[9]KM[0];W[gc])":                       "B place E5, W place G7 / move 1: the head of a game stands after the first move: another game may begin there",
		"(;SZ[9];B[ee](;W[aa])":                                 "B place E5, W place A9 / ",
		"(;[ee]SZ[9];B[ee])":                                    "B place E5 / a value without a property is passed over",
		"(;SZ[9];B[ee]([gg];W[cc]))":                            "B place E5, W place C7 / a value without a property is passed over",
		"(GM[1]SZ[9];B[ee])":                                    "B place E5 / the first node does not begin with a semicolon",
		"(GM[1]SZ[9]C[:-)(;];B[ee](;W[gc])(;W[cc]))":            "B place E5, W place G7 / the first node does not begin with a semicolon",
		"Subject: a (;-) b\n\n(;SZ[9];B[ee])":                   "B place E5 / text before the record is passed over",
		"Subject: a (;-( b\n\n(;SZ[9];B[ee](;W[gc]))":           "B place E5, W place G7 / text before the record is passed over",
		"see (;[1]) for\n(;SZ[9];B[ee])":                        "B place E5 / text before the record is passed over",
		"(; 1. SZ[9];B[ee](;W[gc];B[cc])(;W[gg]))":              "B place E5, W place G7, B place C7 / text between values is passed over",
		"(;\n;\nSZ[9];B[ee])":                                   "B place E5 / ",
		"(;(;SZ[9];B[ee]))":                                     "B place E5 / ",
		"(;SZ[9](;B[ee]);W[gc])":                                "B place E5 / moves after the main line are passed over",
		"> one\n```sgf\n(;SZ[9]\n;B[ee];W[gc])\n```":            "B place E5, W place G7 / text before the record is passed over; text after the main line is passed over",
		"-> (;SZ[9]\nC[a\n> b\n> c];B[ee];W[gc])":               "B place E5, W place G7 / text before the record is passed over",
		"(;SZ[9];B[ee]C[a ] so(;W[gc];B[cc]C[smile :]]))":       "B place E5, W place G7, B place C7 / move 3: text between values is passed over; unknown properties, and those without a value, are passed over: so",
		"(;SZ[9];B[ee]);W[gc])":                                 "B place E5 / moves after the main line are passed over",
		"(;SZ[9];B[ee];W[gc]) );B[cc])":                         "B place E5, W place G7 / moves after the main line are passed over",
		"(;SZ[9];B[ee]);B[gc])":                                 "B place E5 / moves after the main line are passed over",
		"(;SZ[9];B[ee]);SZ[9];W[gc])":                           "B place E5 / moves after the main line are passed over",
		"(;SZ[9](;C[a])(;B[ee];W[gc]))":                         " / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee](;C[a])(;W[gc]))":                         "B place E5 / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee](;W[gc]C[a])(;W[cc]))":                    "B place E5, W place G7 / ",
		"(;SZ[9];B[ee](;W[gc](;C[a])(;B[cc]))(;W[aa]))":         "B place E5, W place G7 / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee]()(;W[gc];B[cc]))":                        "B place E5 / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee](;)(;W[gc];B[cc]))":                       "B place E5 / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee]ABC;W[gc])":                               "B place E5, W place G7 / unknown properties, and those without a value, are passed over: ABC",
		"(;SZ[9];B[ee]();W[gc])":                                "B place E5 / moves after the main line are passed over",
		"(;SZ[9]()(;B[ee]))":                                    " / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee](;(;W[gc])(;W[cc])))":                     "B place E5, W place G7 / ",
		"((;SZ[9];B[ee]))":                                      "B place E5 / ",
		"(;SZ[9](;C[a]))(;SZ[9];B[ee])":                         " / ",
		"(;SZ[9](;B[ee])(;C[a]))":                               "B place E5 / ",
		"my SZ[19] game:\n(;SZ[9];B[ee])":                       "B place E5 / text before the record is passed over",
		"SZ[19]\n(;SZ[9];B[ee])":                                "B place E5 / text before the record is passed over",
		"SZ[19] and\n(;B[ee];W[cc])":                            "B place E15, W place C17 / text before the record is passed over",
		"(;SZ[9]AB[cc]AW[dd]":                                   " / the record ends before its brackets close",
		"(GM[1]SZ[9])":                                          " / the first node does not begin with a semicolon",
		"(see[1]) and (see[2]: the game (;SZ[9];B[ee](;W[gc]))": "B place E5, W place G7 / text before the record is passed over",
		"(;SZ[9];B[ee](;W[gc]) ;B[gg])":                         "B place E5, W place G7 / moves after the main line are passed over",
		"(;SZ[9]PL[green])":                                     " / PL[green] is not a player: the first turn decides who begins",
		"(;SZ[9];B[ee]W[gg])":                                   "B place E5, W place G3 / move 2: two turns stand in one node: they are read in their order",
		"(;SZ[9];W[ee]B[gg])":                                   "W place E5, B place G3 / move 2: two turns stand in one node: they are read in their order",
		"(;SZ[9];B[ee]W[gg]B[cc])":                              "B place E5, W place G3, B place C7 / move 2: two turns stand in one node: they are read in their order",
		"(;SZ[9];B[ee][gg])":                                    "B place E5, B place G3 / move 2: two turns stand in one node: they are read in their order",
		"(;SZ[9]KM[375])":                                       " / KM[375] is in hundredths of stones, a komi of 7½",
		"(;SZ[9]KM[325])":                                       " / KM[325] is in hundredths of stones, a komi of 6½",
		"(;SZ[9]KM[750])":                                       " / KM[750] is in hundredths, a komi of 7½",
		"(;SZ[9]KM[650])":                                       " / KM[650] is in hundredths, a komi of 6½",
		"(;SZ[9]KM[3.75])":                                      " / KM[3.75] is in stones, a komi of 7½",
		"(;SZ[9]KM[2,75])":                                      " / KM[2,75] is in stones, a komi of 5½",
		"(;SZ[9]AB[cc]AW[cc])":                                  " / C7 is set up in two ways at once: AW is read",
		"(;SZ[9]AB[cc];AW[cc])":                                 " / ",
		"(;SZ[9]AB[cc][cc]AE[gg])":                              " / ",
		"(;SZ[9]HA[2];W[ee])":                                   "W place E5 / HA[2]: the record does not say where the handicap stones stand: it is read without them",
		"(;SZ[9];B[cc];B[gg];W[ee])":                            "W place E5 / Black begins with 2 stones in a row: they are read as handicap",
		"(;SZ[9]KM[7.5])":                                       " / ",
		"(;SZ[9]KM[65])":                                        " / KM[65] is in tenths, a komi of 6½",
		"SZ[5]KM[6.5]\n(;GM[1]SZ[9];B[ee])":                     "B place E5 / text before the record is passed over",
		"(;SZ[9](;C[x](;C[y]))(;B[aa]))":                        " / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee](;C[x](;C[y]))(;W[aa]))":                  "B place E5 / the first variation has no moves: another may be the game",
		"(;SZ[9](;C[x]))(;SZ[9](;B[aa]))":                       " / ",
		"(;SZ[9]ZZ;B[ee])":                                      "B place E5 / unknown properties, and those without a value, are passed over: ZZ",
		"(;SZ[9]KM[6.25])":                                      " / KM[6.25] is not a komi: it is read as 0",
		"(;SZ[9]KM[-6.50])":                                     " / KM[-6.50] is negative: White gives Black a komi of 6½",
		"(;SZ[9]KM[-6.5]HA[2]AB[cc][gg];W[ee])":                 "W place E5 / ",
		"(;SZ[9]KM[-6.5];B[cc];B[gg];W[ee])":                    "W place E5 / Black begins with 2 stones in a row: they are read as handicap",
		"(;SZ[9]KM[-50]AP[foxwq])":                              " / KM[-50] is in hundredths, a komi of −½",
		"(;SZ[9]KM[-6.5]AP[Halfpoint])":                         " / ",
		"(;SZ[9]KM[-6.5]HA[1])":                                 " / KM[-6.5] is negative: White gives Black a komi of 6½",
		"(;SZ[9]KM[-3.75])":                                     " / KM[-3.75] is in stones, a komi of −7½",
		"(;SZ[9]KM[6目半])":                                       " / KM[6目半] is in words, a komi of 6½",
		"(;SZ[9]KM[6.3])":                                       " / KM[6.3] is not a komi: it is read as 0",
		"(;SZ[9]KM[much])":                                      " / KM[much] is not a komi: it is read as 0",
		"(;SZ[9]HA[two];B[ee])":                                 "B place E5 / HA[two] is not a number of stones: the handicap is read from the board",
		"(;SZ[9]HA[-2];B[ee])":                                  "B place E5 / HA[-2] is not a number of stones: the handicap is read from the board",
		"(;SZ[9]HA[2 stones]AB[cc][gg];W[ee])":                  "W place E5 / ",
		"(;SZ[9]HA[3]AB[cc][gg];W[ee])":                         "W place E5 / HA[3], but there are 2 such stones: they are read as the handicap",
		"(;SZ[9]HA[4]AB[cc][gg];B[gc];W[ee])":                   "B place G7, W place E5 / HA[4], but there are 2 such stones: they are read as the handicap",
		"(;SZ[9]HA[2];B[];W[ee])":                               "B pass, W place E5 / HA[2]: the record does not say where the handicap stones stand: it is read without them",
		"(;SZ[9]HA[2];B[cc];W[ee])":                             "B place C7, W place E5 / HA[2]: the record does not say where the handicap stones stand: it is read without them",
		"(;SZ[9]HA[2];B[cc];B[cg];B[gg];W[ee])":                 "W place E5 / HA[2], but there are 3 such stones: they are read as the handicap",
		"(;SZ[9]HA[4];B[cc];B[gg];W[ee])":                       "W place E5 / HA[4], but there are 2 such stones: they are read as the handicap",
		"(;SZ[9]HA[3];B[cc];B[gg])":                             " / HA[3], but there are 2 such stones: they are read as the handicap",
		"(;SZ[9]HA[2]AB[cc];W[gg])":                             "W place G3 / HA[2]: the record does not say where the handicap stones stand: it is read without them",
		"(;SZ[9];B[ee];W[gc]PL;B[cc]AB;W[gg] G C[x])":           "B place E5, W place G7, B place C7, W place G3 / unknown properties, and those without a value, are passed over: PL, AB, G",
		"(;SZ[9];B[cc]AW[dd];W[ee])":                            "B place C7, W place E5 / stones are set up in the node of the first move: they stand before it",
		"(;SZ[9]HA[2];B[cc];B[gg];W[ee])":                       "W place E5 / ",
		"(;SZ[9]HA[2];B[cc];B[gg])":                             " / ",
		"(;SZ[9];B[cc];B[gg])":                                  "B place C7, B place G3 / ",
		"(;SZ[9]AB[ee];B[cc];B[gg];W[dd])":                      "B place C7, B place G3, W place D6 / ",
		"(;SZ[9];B[ee];W[zz];B[zz])":                            "B place E5, W pass, B pass / move 2: [zz] is off the board: it is read as a pass; move 3: [zz] is off the board: it is read as a pass",
		"(;SZ[9:9];B[ii])":                                      "B place J1 / ",
		"(;SZ[ 9 ];B[ii])":                                      "B place J1 / ",
		"(;SZ[];B[ss])":                                         "B place T1 / SZ[] names no size: the board is read as 19×19",
		"(;SZ[]SZ[9];B[ii])":                                    "B place J1 / ",
		"(;SZ[9]GM[go];B[ii])":                                  "B place J1 / GM[go] is read as Go",
		"(;SZ[9]GM[Go];B[ii])":                                  "B place J1 / GM[Go] is read as Go",
		"(;SZ[9]GM[];B[ii])":                                    "B place J1 / ",
		"(;SZ[9]KM[])":                                          " / KM[] names no komi: it is read as 0",
		"(;SZ[9]KM[20000])":                                     " / KM[20000] is not a komi: it is read as 0",
		"(;SZ[9]KM[25])":                                        " / ",
		"(;SZ[9]KM[6½])":                                        " / ",
		"(;SZ[9]RU[AGA, komi 7.5])":                             " / KM is read from RU[AGA, komi 7.5]; KM[komi 7.5] is in words, a komi of 7½",
		"(;SZ[9]RU[Japanese (6.5 Komi)]KM[])":                   " / KM is read from RU[Japanese (6.5 Komi)]; KM[6.5 Komi] is in words, a komi of 6½",
		"(;SZ[9]RU[中国规则 黑贴3又3/4子])":                             " / KM is read from RU[中国规则 黑贴3又3/4子]; KM[黑贴3又3/4子] is in words, a komi of 7½",
		"(;SZ[9]RU[AGA, komi by bidding])":                      " / KM is read from RU[AGA, komi by bidding]; KM[komi by bidding] is not a komi: it is read as 0",
		"(;SZ[9]KM[7.5]RU[AGA, komi 7.5])":                      " / ",
		"(;SZ[9]RU[gomoku];B[ii])":                              "B place J1 / ",
		"(;SZ[9]KM[６．５])":                                       " / KM[６．５] is in words, a komi of 6½",
		"(;SZ[9]HA[２]AB[cc][gg];W[ee])":                         "W place E5 / ",
		"(;SZ[9]HA[让2子]AB[cc][gg];W[ee])":                       "W place E5 / ",
		"(;SZ[9]HA[2.0]AB[cc][gg];W[ee])":                       "W place E5 / ",
		"(;SZ[9]HA[先];B[ee])":                                   "B place E5 / HA[先] is not a number of stones: the handicap is read from the board",
	} {
		if got := readAs(t, record); got != want {
			t.Errorf("%s: %s\nwant %s", record, got, want)
		}
	}
}

// readAs returns the turns of a record and what had to be guessed.
func readAs(t *testing.T, record string) string {
	t.Helper()
	rec := read(t, record)
	var said []string
	for _, r := range rec.Repairs {
		said = append(said, r.String())
	}
	return turnsOf(rec) + " / " + strings.Join(said, "; ")
}

// The first level of each encoding is in use, from its first row to its last, and the
// second is not.
func TestInUse(t *testing.T) {
	for i, x := range []struct{ used, rare string }{
		{"亜林", "弌腕π"}, {"啊座", "亍齄"}, {"一籲", "乂龘"}, {"가힝", "伽詰캚"}, {"亜腕", "弌熙"},
	} {
		if fits := looks[i].fits(nil); fits != 0 {
			t.Errorf("%s: nothing fits it by %v", looks[i].name, fits)
		}
		for _, c := range x.used {
			if !looks[i].inUse(c) {
				t.Errorf("%s: %c is in use", looks[i].name, c)
			}
		}
		for _, c := range x.rare + "a☃" {
			if looks[i].inUse(c) {
				t.Errorf("%s: %c is rare", looks[i].name, c)
			}
		}
	}
}

// Text is ASCII if no byte of it is beyond, wherever that stands.
func TestASCII(t *testing.T) {
	for n := range 20 {
		text := bytes.Repeat([]byte("\x7f"), n)
		if !ascii(text) {
			t.Errorf("%d bytes", n)
		}
		for i := range text {
			text[i] = 0x80
			if ascii(text) {
				t.Errorf("%d bytes, one beyond at %d", n, i)
			}
			text[i] = 'x'
		}
	}
}

// Russian is in words of three letters or more, written as words are, and not within others. A
// word counts 0.4 for each of its letters, and 0.4 more for a usual one.
func TestCyrillic(t *testing.T) {
	for text, want := range map[string]float64{
		"": 0, "abc": 0, "жуж": 0.4, "Жуж": 0.4, "ЖУЖ": 0.4, "жуЖ": 0, "ЖУж": 0, "жу": 0, "ж": 0, "жуж жу": 0.4 * 3 / 5, "xжуж": 0, "жужx": 0, "1жуж2": 0.4, "№жуж": 0.4 * 3 / 4,
		"он и она": 0.8 * 3 / 6, "Ада": 0.4 + 0.4*2/3, "Яков": 0.4 + 0.4*3/4, "Ёлка": 0.4 + 0.4*3/4, "ёжь": 0.4, "жаля": 0.4 + 0.4*2/4, "ЯЁА": 0.4 + 0.4/3,
	} {
		got := cyrillics[0].cyrillic([]byte(encoded(t, charmap.Windows1251, text)))
		if near := math.Abs(got-want) < 1e-9; !near {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if look := looksLike([]byte("ab\xe9\xe9cd")); look.name != "Windows-1252" {
		t.Error("what looks like nothing:", look.name)
	}
}

// A letter beyond ASCII that stands alone speaks for a western language.
func TestWestern(t *testing.T) {
	for sample, want := range map[string]float64{
		"": 0, "abc": 0, "a\xe9": 1, "a\xe9b": 1, "\x80": 1, "\x80\xe9": 0, "\xe9\x80": 0, "\xe9a": 1, "\xe9a\xe9": 1, "\xe9\xe9": 0, "\xe9\xe9a\xe9b": 1. / 3, "\xe9ab\xe9\xe9": 1. / 3, "\xbf": 1, "\xbc": 0, "\x93a\x94": 1, "\xc0": 1,
	} {
		if got := western([]byte(sample)); got != want {
			t.Errorf("%q: %v, want %v", sample, got, want)
		}
	}
}

// No komi comes near a hundred points.
func TestKomi(t *testing.T) {
	for value, want := range map[string]string{
		"6.5": "6½ ", "6½": "6½ ", "½": "½ ", "−6½": "−6½ ", "6.5½": "no", "6.5 komi": "6½ in words", "-99.5": "−99½ ", "99.5": "99½ ", "-3.75": "−7½ in stones", "4.25": "no", "-4.25": "no", "3.25": "6½ in stones", "6.75": "no", "49.75": "no", "425": "no", "99.75": "no", "-99.75": "no",
		"375": "7½ in hundredths of stones", "-375": "−7½ in hundredths of stones", "100": "1 in hundredths", "-100": "−1 in hundredths", "650": "6½ in hundredths",
		"9950": "99½ in hundredths", "9975": "no", "475": "no", "10000": "no", "-10000": "no", "10025": "no", "-10025": "no", "20000": "no",
		"６．５": "6½ in words", "7.5　": "7½ in words", "６目半": "6½ in words", "黑贴3又3/4子": "7½ in words", "黒コミ": "no", "黒6目半": "6½ in words", "黑5.5": "5½ in words", "先番六目半コミ出し": "6½ in words", "先番コミ六目半出し": "6½ in words", "贴3¾子": "7½ in words", "3¾": "7½ in words", "2¼子": "4½ in words", "5목반": "5½ in words", "6집반": "6½ in words", "덤 6호반": "6½ in words", "7호": "7 in words", "黒コミ5目半": "5½ in words", "白6目半": "6½ in words", "込み6目半": "6½ in words", "덤 6집반": "6½ in words", "6.3": "no", "x": "no", "": "no",
		"6.5e0": "no", "3.75e0": "no", "0x10": "no", "1e1": "no", "65": "6½ in tenths", "55": "5½ in tenths", "75": "7½ in tenths", "-65": "−65 ", "66": "66 ", "White 5.5": "5½ in words", "W+5.5": "5½ in words",
		"6目半": "6½ in words", "コミ6目半": "6½ in words", "白7目": "7 in words", "3又3/4子": "7½ in words", "3.75子": "7½ in words", "5 1/2 points": "5½ in words",
		"5.5 points": "5½ in words", "komi: 7": "7 in words", "komi": "no", "black 5.5": "no", "5.5.5": "no", "6.3目": "no", "1234目": "no",
	} {
		p, said, err := komi(value, false)
		got := p.String() + " " + said
		if err != nil {
			got = "no"
		}
		if got != want {
			t.Errorf("KM[%s] is %s, want %s", value, got, want)
		}
	}
}

// Bytes that are no UTF-8 become U+FFFD, one for each run of them.
func TestValid(t *testing.T) {
	for _, text := range []string{"", "abc", "李昌镐", "\xff", "\xff\xff a", "a\xe6\x9d", "\xe6\x9d李\xe6", "\xff\ufffd\xff", "a\xffb\xff\xffc"} {
		if got, want := string(valid([]byte(text))), strings.ToValidUTF8(text, "\ufffd"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A character that would have a bracket or a backslash as its second byte is not there, and all
// others are.
func TestGuarded(t *testing.T) {
	for _, x := range []struct {
		encoding   encoding.Encoding
		text, want string
	}{
		{japanese.ShiftJIS, "", ""}, {japanese.ShiftJIS, "\x81", "\x81"}, {japanese.ShiftJIS, "a]\x81]", "a]?]"}, {japanese.ShiftJIS, "\x81\x81]", "\x81\x81]"},
		{japanese.ShiftJIS, "\x83\\\x83[\x83Z", "?\\?[\x83Z"}, {japanese.ShiftJIS, "\xa0]\xb1]\xdf]\xe0]", "\xa0]\xb1]\xdf]?]"}, {japanese.ShiftJIS, "\x80]\xff]", "\x80]\xff]"},
		{simplifiedchinese.GB18030, "\x80]\xb1]\xff]\xb1\xb1]", "\x80]?]\xff]\xb1\xb1]"}, {traditionalchinese.Big5, "\xa5\\\xa5a", "?\\\xa5a"},
	} {
		if got := string(guarded([]byte(x.text), x.encoding)); got != x.want {
			t.Errorf("%q: %q, want %q", x.text, got, x.want)
		}
	}
}

// Signs of one byte that become three find room, however many there are.
func TestDecodedGrows(t *testing.T) {
	kana := strings.Repeat("ｱｲｳ", 1000)
	if got := string(decoded(nil, []byte(encoded(t, japanese.ShiftJIS, kana)), japanese.ShiftJIS)); got != kana {
		t.Errorf("%d bytes of %d", len(got), len(kana))
	}
	buffer := make([]byte, 0, 100)
	if got := decoded(buffer, []byte("ab"), charmap.Windows1252); string(got) != "ab" || &got[0] != &buffer[:1][0] {
		t.Errorf("%q, not in the buffer", got)
	}
}
