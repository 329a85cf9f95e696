package sgf

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	textunicode "golang.org/x/text/encoding/unicode"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A record is decoded before it is parsed: the second byte of a character of
// Shift_JIS, GB18030 or Big5 can be the code of a bracket or of a backslash.

// decode returns a record as UTF-8 without a byte order mark, and what was assumed of
// its encoding, if anything: a byte order mark decides, then UTF-8 that says so or is
// nothing else, then CA, then what the text looks like.
func decode(data []byte) (text []byte, assumed rules.Saying) {
	if ascii(data) && !bytes.Contains(data, []byte{0}) {
		return shifted(data)
	}
	if e := utf16(data); e != nil {
		return decoded(data, e), rules.Saying{}
	}
	if rest, marked := bytes.CutPrefix(data, []byte("\ufeff")); marked {
		return bytes.ToValidUTF8(rest, []byte("\ufffd")), rules.Saying{}
	}
	named, name := declared(data)
	if utf8.Valid(data) {
		if name != "" && named != textunicode.UTF8 {
			return data, says("the record names the encoding {0}, but it is UTF-8", cut(name, 20))
		}
		return data, rules.Saying{}
	}
	if wrong, right := broken(data); right > 2*wrong && (named == nil || named == textunicode.UTF8) {
		return bytes.ToValidUTF8(data, []byte("\ufffd")), says("the record is UTF-8 in which some characters are cut in two")
	}
	if named != nil && named != textunicode.UTF8 {
		// UTF-16 without its mark makes some character of any two bytes.
		if text := decoded(data, named); !bytes.ContainsRune(text, utf8.RuneError) && bytes.IndexByte(text, '(') >= 0 {
			return text, rules.Saying{}
		}
	}
	text, looks := sniff(data)
	if name == "" {
		return text, says("the record does not name its encoding: it is read as {0}", looks)
	}
	return text, says("the record is not in the encoding {0} that it names: it is read as {1}", cut(name, 20), looks)
}

func ascii(data []byte) bool {
	const high = 0x80_80_80_80_80_80_80_80
	for ; len(data) >= 8; data = data[8:] {
		if binary.NativeEndian.Uint64(data)&high != 0 {
			return false
		}
	}
	return utf8.RuneCount(data) == len(data) && utf8.Valid(data)
}

// shifted returns a record of bytes of ASCII. Those of ISO-2022-JP, in which records went by
// mail, are Japanese between two escape sequences, and any may be the code of a bracket.
func shifted(data []byte) (text []byte, assumed rules.Saying) {
	if !bytes.Contains(data, []byte("\x1b$B")) && !bytes.Contains(data, []byte("\x1b$@")) {
		return data, rules.Saying{}
	}
	text = decoded(data, japanese.ISO2022JP)
	if bytes.ContainsRune(text, utf8.RuneError) {
		return data, rules.Saying{}
	}
	if named, _ := declared(data); named == japanese.ISO2022JP {
		return text, rules.Saying{}
	}
	return text, says("the record does not name its encoding: it is read as {0}", "ISO-2022-JP")
}

// decoded returns text in an encoding as UTF-8. What the encoding does not know becomes U+FFFD.
func decoded(data []byte, e encoding.Encoding) []byte {
	text, err := e.NewDecoder().Bytes(data)
	if err != nil { // decoders replace what they do not know
		return bytes.ToValidUTF8(data, []byte("\ufffd"))
	}
	return text
}

// broken counts the bytes of text that are no UTF-8, and the characters beyond ASCII
// that are.
func broken(data []byte) (wrong, right int) {
	for len(data) > 0 {
		c, n := utf8.DecodeRune(data)
		switch {
		case c == utf8.RuneError && n == 1:
			wrong++
		case n > 1:
			right++
		}
		data = data[n:]
	}
	return wrong, right
}

// utf16 returns the encoding of a record that is UTF-16, by its byte order mark or
// by the zeros beside its first bracket; nil if it is not.
func utf16(data []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return textunicode.UTF16(textunicode.BigEndian, textunicode.ExpectBOM)
	case bytes.HasPrefix(data, []byte("(\x00")):
		return textunicode.UTF16(textunicode.LittleEndian, textunicode.IgnoreBOM)
	case bytes.HasPrefix(data, []byte("\x00(")):
		return textunicode.UTF16(textunicode.BigEndian, textunicode.IgnoreBOM)
	}
	return nil
}

// charsetProperty finds CA, in all its spellings, and what some call it instead. Its value is ASCII in every encoding.
var charsetProperty = regexp.MustCompile(`(?:C[a-z]*A[a-z]*|\b(?i:ca|charset|codepage|encoding))\s*\[\s*([0-9A-Za-z_:.-]+)\s*\]`)

// charsetWithin is how far into a record CA is looked for, in bytes.
const charsetWithin = 64 << 10

// declared returns the encoding that a record names in CA, nil if it is not known,
// and its name.
func declared(data []byte) (encoding.Encoding, string) {
	m := charsetProperty.FindSubmatch(data[:min(len(data), charsetWithin)])
	if m == nil {
		return nil, ""
	}
	name := string(m[1])
	e, err := htmlindex.Get(name)
	if err != nil {
		if e = charsets[strings.ToLower(name)]; e == nil {
			return nil, name
		}
	}
	return e, name
}

// charsets has names that programs write and no standard knows.
var charsets = map[string]encoding.Encoding{
	"utf8": textunicode.UTF8, "latin-1": charmap.Windows1252, "iso8859-1": charmap.Windows1252, "cp1252": charmap.Windows1252,
	"cp932": japanese.ShiftJIS, "ms932": japanese.ShiftJIS, "shiftjis": japanese.ShiftJIS,
	"cp936": simplifiedchinese.GB18030, "gb": simplifiedchinese.GB18030,
	"cp949": korean.EUCKR, "uhc": korean.EUCKR, "cp950": traditionalchinese.Big5,
}

// A look is an encoding that a record may be in although it does not say so.
type look struct {
	name     string
	encoding encoding.Encoding
	common   string // characters that records have often: surnames, ranks, results, dates
}

// looks are tried in this order; of those that fit equally well the first is taken.
var looks = []look{
	{"Shift_JIS", japanese.ShiftJIS, "段級黒白先番手半目勝中押戦棋院名人本因坊王座天元碁聖杯年月日第回局対持時間分小林武宮藤沢加高尾井山田村橋石依趙治勲大竹張栩羽根結城"},
	{"GB18030", simplifiedchinese.GB18030, "段级黑白先手子半目胜中盘对局棋院围杯赛届年月日第轮名人王天元决时间分秒李张古力柯常昊孔杰聂卫平马晓春刘陈周罗洗河朴廷桓世石昌镐中国韩日本贴让"},
	{"Big5", traditionalchinese.Big5, "段級黑白先手子半目勝中盤對局棋院圍盃賽屆年月日第輪名人王天元決時間分秒李張古力柯常昊孔傑聶衛平馬曉春劉陳周羅王立誠林海峰紅面國韓台灣貼讓"},
	{"EUC-KR", korean.EUCKR, "단급흑백선번집반승불계국기원전배년월일제회명인왕위천국수이김박최조유서창호세돌훈현정환영훈지석시간분초대한중일본덤"},
}

// sniff returns a record in the encoding that its text looks most like, and the name
// of that. Text of single letters beyond ASCII among others is Windows-1252.
func sniff(data []byte) (text []byte, name string) {
	sample := sampled(data)
	best, most := look{"Windows-1252", charmap.Windows1252, ""}, western(sample)
	for _, l := range looks {
		if fits := l.fits(sample); fits > most {
			best, most = l, fits
		}
	}
	return decoded(data, best.encoding), best.name
}

// sampled returns the part of a record that is looked at: of lines with something beyond
// ASCII, up to charsetWithin bytes.
func sampled(data []byte) (sample []byte) {
	for line := range bytes.Lines(data) {
		if !ascii(line) {
			sample = append(sample, line[:min(len(line), charsetWithin-len(sample))]...)
		}
		if len(sample) == charsetWithin {
			break
		}
	}
	return sample
}

// fits returns how much text looks like the encoding, from 0 to 1: which share of the
// characters beyond ASCII are in common use.
func (l look) fits(sample []byte) float64 {
	all, score := 0, 0.0
	for _, c := range string(decoded(sample, l.encoding)) {
		switch {
		case c < utf8.RuneSelf:
			continue
		case c == utf8.RuneError:
			all, score = all+1, score-1
			continue
		case strings.ContainsRune(l.common, c):
			score++
		case l.name == "Shift_JIS" && unicode.In(c, unicode.Hiragana, unicode.Katakana):
			score += 0.8
			if c >= 0xff61 { // of half width: one byte, and so anything
				score -= 0.6
			}
		case l.inUse(c):
			score += 0.5
		}
		all++
	}
	if all == 0 {
		return 0
	}
	return max(0, score/float64(all))
}

// inUse reports whether a character is of the first level of its encoding, which has
// those of daily life.
func (l look) inUse(c rune) bool {
	b, err := l.encoding.NewEncoder().Bytes(utf8.AppendRune(nil, c))
	if err != nil || len(b) != 2 {
		return false
	}
	switch l.name {
	case "Shift_JIS":
		return b[0] >= 0x88 && b[0] <= 0x97
	case "GB18030":
		return b[0] >= 0xb0 && b[0] <= 0xd7 && b[1] >= 0xa1
	case "Big5":
		return b[0] >= 0xa4 && b[0] <= 0xc6
	default:
		return b[0] >= 0xb0 && b[0] <= 0xc8 && b[1] >= 0xa1
	}
}

// western returns which share of the letters beyond ASCII stand beside one of ASCII,
// or alone.
func western(sample []byte) float64 {
	high, alone := 0, 0
	for i, c := range sample {
		if c < utf8.RuneSelf {
			continue
		}
		high++
		before := i > 0 && sample[i-1] >= utf8.RuneSelf
		after := i+1 < len(sample) && sample[i+1] >= utf8.RuneSelf
		if c >= 0xc0 && !before && !after {
			alone++
		}
	}
	if high == 0 {
		return 0
	}
	return float64(alone) / float64(high)
}
