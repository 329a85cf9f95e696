package sgf

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
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

// decode returns a record as UTF-8 without a byte order mark, from which encoding, nil for
// UTF-8, and what was assumed of that, if anything: a byte order mark decides, then UTF-8 that
// says so or is nothing else, then CA, then what the text looks like.
func decode(data []byte) (text []byte, from encoding.Encoding, assumed rules.Saying) {
	if ascii(data) && !bytes.Contains(data, []byte{0}) {
		text, assumed = shifted(data)
		return text, nil, assumed
	}
	if e := utf16(data); e != nil {
		return decoded(nil, data, e), e, rules.Saying{}
	}
	if rest, marked := bytes.CutPrefix(data, []byte("\ufeff")); marked {
		return valid(rest), nil, rules.Saying{}
	}
	named, name := declared(data)
	other := named != nil && named != textunicode.UTF8
	if utf8.Valid(data) {
		if name != "" && named != textunicode.UTF8 {
			assumed = says("the record names the encoding {0}, but it is UTF-8", cut(name, 20))
		}
		return data, nil, assumed
	}
	if wrong, right := broken(data); right > 2*wrong && !other {
		return valid(data), nil, says("the record is UTF-8 in which some characters are cut in two")
	}
	if other {
		text = decoded(nil, data, named)
		// UTF-16 without its mark makes some character of any two bytes.
		if !bytes.ContainsRune(text, utf8.RuneError) && bytes.IndexByte(text, '(') >= 0 {
			return text, named, rules.Saying{}
		}
	}
	looks := looksLike(sampled(data))
	text = decoded(text, data, looks.encoding)
	if name == "" {
		return text, looks.encoding, says("the record does not name its encoding: it is read as {0}", looks.name)
	}
	return text, looks.encoding, says("the record is not in the encoding {0} that it names: it is read as {1}", cut(name, 20), looks.name)
}

func ascii(data []byte) bool {
	const high = 0x80_80_80_80_80_80_80_80
	for ; len(data) >= 8; data = data[8:] {
		if binary.NativeEndian.Uint64(data)&high != 0 {
			return false
		}
	}
	return !slices.ContainsFunc(data, func(c byte) bool { return c >= utf8.RuneSelf })
}

// shifts are the encodings of bytes of ASCII in which records went by mail: what stands between
// two marks is Japanese or Chinese, and any byte of it may be the code of a bracket.
var shifts = []struct {
	name     string
	encoding encoding.Encoding
	marks    []string // one of them begins what is not ASCII
}{
	{"ISO-2022-JP", japanese.ISO2022JP, []string{"\x1b$B", "\x1b$@"}},
	{"HZ-GB2312", simplifiedchinese.HZGB2312, []string{"~{"}},
}

// shifted returns a record of bytes of ASCII, and what was assumed of it.
func shifted(data []byte) (text []byte, assumed rules.Saying) {
	for _, s := range shifts {
		if !slices.ContainsFunc(s.marks, func(m string) bool { return bytes.Contains(data, []byte(m)) }) {
			continue
		}
		text = decoded(nil, data, s.encoding)
		if bytes.ContainsRune(text, utf8.RuneError) || ascii(text) {
			continue
		}
		if named, _ := declared(data); named != s.encoding {
			assumed = says("the record does not name its encoding: it is read as {0}", s.name)
		}
		return text, assumed
	}
	return data, rules.Saying{}
}

// decoded returns text in an encoding as UTF-8, in buffer if it has room. What the encoding
// does not know becomes U+FFFD.
func decoded(buffer, data []byte, e encoding.Encoding) []byte {
	d := e.NewDecoder()
	// A byte becomes at most two of UTF-8, but for a few signs.
	if room := 2*len(data) + utf8.UTFMax; room > cap(buffer) {
		buffer = make([]byte, room)
	}
	buffer = buffer[:cap(buffer)]
	written, read, err := d.Transform(buffer, data, true)
	if err == nil {
		return buffer[:written]
	}
	rest, err := d.Bytes(data[read:]) // signs that become three bytes of one
	if err != nil {                   // decoders replace what they do not know
		return valid(data)
	}
	return append(buffer[:written], rest...)
}

// valid returns text in which each run of bytes that are no UTF-8 is U+FFFD.
func valid(text []byte) []byte {
	wrong, _ := broken(text)
	if wrong == 0 {
		return text
	}
	out := make([]byte, 0, len(text)+2*wrong)
	before := false
	for len(text) > 0 {
		c, n := utf8.DecodeRune(text)
		if bad := c == utf8.RuneError && n == 1; !bad || !before {
			out = utf8.AppendRune(out, c)
			before = bad
		}
		text = text[n:]
	}
	return out
}

// guarded returns text in an encoding of two bytes in which no character has a bracket or
// a backslash as its second byte: a program that cut the character in two meant the bracket.
func guarded(data []byte, e encoding.Encoding) []byte {
	out := bytes.Clone(data)
	for i := 0; i+1 < len(out); i++ {
		switch c := out[i]; {
		case c <= 0x80 || c == 0xff || e == japanese.ShiftJIS && c >= 0xa0 && c <= 0xdf:
		case strings.IndexByte(`[\]`, out[i+1]) >= 0:
			out[i] = '?'
		default:
			i++
		}
	}
	return out
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

const (
	charsetWithin = 64 << 10 // how far into a record CA is looked for, in bytes
	sampleSize    = 16 << 10 // bytes that tell an encoding which is not named
)

// declared returns the encoding that a record names in CA, nil if it is not known,
// and its name.
func declared(data []byte) (encoding.Encoding, string) {
	m := charsetProperty.FindSubmatch(data[:min(len(data), charsetWithin)])
	if m == nil {
		return nil, ""
	}
	name := string(m[1])
	e, known := charsets[strings.ToLower(name)]
	if !known {
		e, _ = htmlindex.Get(name)
	}
	return e, name
}

// charsets has names that programs write and no standard knows, or none for reading.
var charsets = map[string]encoding.Encoding{
	"utf8": textunicode.UTF8, "latin-1": charmap.Windows1252, "iso8859-1": charmap.Windows1252, "cp1252": charmap.Windows1252,
	"hz": simplifiedchinese.HZGB2312, "hz-gb-2312": simplifiedchinese.HZGB2312, "hz-gb2312": simplifiedchinese.HZGB2312,
	"cp932": japanese.ShiftJIS, "ms932": japanese.ShiftJIS, "shiftjis": japanese.ShiftJIS,
	"cp936": simplifiedchinese.GB18030, "gb": simplifiedchinese.GB18030,
	"cp949": korean.EUCKR, "uhc": korean.EUCKR, "cp950": traditionalchinese.Big5,
}

// A look is an encoding that a record may be in although it does not say so.
type look struct {
	name     string
	encoding encoding.Encoding
	common   string // characters that records have often: of names, ranks, results, dates
	// The characters of daily life, the first level of the encoding: their first byte is one of
	// these two or between them, their second one this or more.
	from, to, second byte
}

const (
	kanji = "段級黒白先番手半目勝中押戦棋院名人本因坊王座天元碁聖杯年月日第回局対持時間分小林武宮藤沢加高尾井山田村橋石依趙治勲大竹張栩羽根結城" +
		"伊佐原川木野松上下平清水岡坂崎森池内後近遠福安吉島嶋荒浜河鈴斎斉渡辺部久保口岩金谷西東南北前新三二一四五六七八九十正美子明光秀和夫雄男彦太郎次也哉介助輔樹真理恵智弘浩孝行成幸信英勇健司史士志朗克貴敏俊宏隆義昭雅裕悠優翔愛香奈由里佳紀代千春夏秋冬関今長重道直坊紅初決挑予選期敗無無不戦棋譜解説会日本国"
	hanzi = "段级黑白先手子半目胜中盘对局棋院围杯赛届年月日第轮名人王天元决时间分秒李张古力柯常昊孔杰聂卫平马晓春刘陈周罗洗河朴廷桓世石昌镐中国韩日本贴让" +
		"杨黄赵吴徐孙朱胡郭何高林郑梁谢宋唐许冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金廖贾夏韦方邹孟熊秦邱江尹薛雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫汤伟芳娜秀敏静丽强磊军洋勇艳娟涛明超兰霞刚桂英华玉萍红玲燕彬鹏浩凯健俊雪宁文清飞凤波辉东海峰建庆志永新民生光荣成学良德云宇一小大负三四五六七八九十锦标职业"
	hanziOld = "段級黑白先手子半目勝中盤對局棋院圍盃賽屆年月日第輪名人王天元決時間分秒李張古力柯常昊孔傑聶衛平馬曉春劉陳周羅王立誠林海峰紅面國韓台灣貼讓" +
		"楊黃趙吳徐孫朱胡郭何高鄭梁謝宋唐許馮鄧曹彭曾蕭田董袁潘于蔣蔡余杜葉程蘇魏呂丁任沈姚盧姜崔鍾譚陸汪范金石廖賈夏韋方鄒孟熊秦邱江尹薛雷侯龍史陶黎賀顧毛郝龔邵萬錢嚴武戴莫湯俊勳偉芳秀敏靜麗強軍洋勇明超蘭霞剛桂英華玉紅玲燕浩健雪寧文清飛鳳輝東建慶志永新民生光榮成學良德雲宇一小大負三四五六七八九十環職業負俠"
	hangul = "단급흑백선번집반승불계국기원전배년월일제회명인왕위천국수이김박최조유서창호세돌훈현정환영훈지석시간분초대한중일본덤" +
		"강윤장임오신권황안송류홍고문양손허남심노하곽성차주우구민진엄채방공함변염준재동규태상경철희은미연아용병덕종길광근범식찬웅농라면삼화바둑패점호의로가나다사자를을는은도에서"
)

// looks are tried in this order; of those that fit equally well the first is taken.
var looks = []look{
	{"Shift_JIS", japanese.ShiftJIS, kanji, 0x88, 0x97, 0},
	{"GB18030", simplifiedchinese.GB18030, hanzi, 0xb0, 0xd7, 0xa1},
	{"Big5", traditionalchinese.Big5, hanziOld, 0xa4, 0xc6, 0},
	{"EUC-KR", korean.EUCKR, hangul, 0xb0, 0xc8, 0xa1},
	{"EUC-JP", japanese.EUCJP, kanji, 0xb0, 0xcf, 0},
}

// cyrillics are the encodings of Russian, in which a letter is a byte.
var cyrillics = []look{{name: "Windows-1251", encoding: charmap.Windows1251}, {name: "KOI8-R", encoding: charmap.KOI8R}}

// looksLike returns the encoding that a text beyond ASCII looks most like. One of single
// letters among those of ASCII is Windows-1252.
func looksLike(sample []byte) look {
	best, most := look{name: "Windows-1252", encoding: charmap.Windows1252}, western(sample)
	for _, l := range looks {
		if fits := l.fits(sample); fits > most {
			best, most = l, fits
		}
	}
	for _, l := range cyrillics {
		if fits := l.cyrillic(sample); fits > most {
			best, most = l, fits
		}
	}
	return best
}

// Words of Russian; of them those that are written as words are: in small letters, perhaps after a
// capital one, or in capitals; and the usual letters.
var (
	cyrillicWords   = regexp.MustCompile(`[А-ЯЁа-яё]+`)
	cyrillicSpelled = regexp.MustCompile(`^(?:[А-ЯЁа-яё][а-яё]{2,}|[А-ЯЁ]{3,})$`)
	cyrillicUsual   = regexp.MustCompile(`(?i)[оеаинтсрвлк]`)
)

// cyrillic returns how much text looks like Russian, from 0 to 1: which share of the letters
// beyond ASCII are in words that are written as words are. Of two encodings that have all of
// them, the one with the usual letters.
func (l look) cyrillic(sample []byte) float64 {
	text := decoded(nil, sample, l.encoding)
	_, all := broken(text)
	latin := func(i int) bool { return i >= 0 && i < len(text) && isLetter(text[i]) }
	score := 0
	for _, m := range cyrillicWords.FindAllIndex(text, -1) {
		if word := text[m[0]:m[1]]; cyrillicSpelled.Match(word) && !latin(m[0]-1) && !latin(m[1]) {
			score += utf8.RuneCount(word) + len(cyrillicUsual.FindAll(word, -1))
		}
	}
	return 0.4 * float64(score) / float64(max(all, 1))
}

// sampled returns the part of a record that is looked at: of lines with something beyond
// ASCII, up to sampleSize bytes.
func sampled(data []byte) (sample []byte) {
	for line := range bytes.Lines(data) {
		if !ascii(line) {
			sample = append(sample, line[:min(len(line), sampleSize-len(sample))]...)
		}
		if len(sample) == sampleSize {
			break
		}
	}
	return sample
}

// fits returns how much text looks like the encoding, from 0 to 1: which share of the
// characters beyond ASCII are in common use.
func (l look) fits(sample []byte) float64 {
	all, score := 0, 0.0
	for _, c := range string(decoded(nil, sample, l.encoding)) {
		switch {
		case c < utf8.RuneSelf:
			continue
		case c == utf8.RuneError:
			all, score = all+1, score-1
			continue
		case strings.ContainsRune(l.common, c):
			score++
		case l.common == kanji && unicode.In(c, unicode.Hiragana, unicode.Katakana):
			score += 0.8
			if c >= 0xff61 { // of half width: one byte, and so anything
				score -= 0.6
			}
		case l.inUse(c):
			score += 0.5
		}
		all++
	}
	return max(0, score/float64(max(all, 1)))
}

// inUse reports whether a character is of the first level of its encoding, which has
// those of daily life.
func (l look) inUse(c rune) bool {
	b, err := l.encoding.NewEncoder().Bytes(utf8.AppendRune(nil, c))
	if err != nil {
		return false
	}
	return b[0] >= l.from && b[0] <= l.to && b[1] >= l.second
}

// signs are the quotes, dashes and the like of Windows-1252.
const signs = "\x80\x82\x84\x85\x91\x92\x93\x94\x95\x96\x97\x99\xa0\xa1\xa7\xa9\xaa\xab\xae\xb0\xb2\xb3\xb4\xb7\xba\xbb\xbd\xbf"

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
		if !before && !after && (c >= 0xc0 || strings.IndexByte(signs, c) >= 0) {
			alone++
		}
	}
	return float64(alone) / float64(max(high, 1))
}
