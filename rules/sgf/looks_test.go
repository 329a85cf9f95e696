package sgf

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// The names of the two players alone tell the encoding of a record.
func TestLooks(t *testing.T) {
	japaneseNames := "本因坊秀策 井上幻庵因碩 呉清源 木谷実 高川格 坂田栄男 藤沢秀行 林海峰 石田芳夫 大竹英雄 加藤正夫 小林光一 武宮正樹 趙治勲 依田紀基 片岡聡 羽根直樹 張栩 高尾紳路 山下敬吾 井山裕太 村川大介 一力遼 芝野虎丸 許家元 藤沢里菜 上野愛咲美 仲邑菫 鈴木歩 謝依旻 佐藤康光 田中太郎 山本花子 渡辺和代 小松英樹 王立誠 結城聡 今村俊也 橋本宇太郎 岩本薫 ありがとう ソフト"
	chineseNames := "聂卫平 马晓春 常昊 罗洗河 古力 孔杰 胡耀宇 周鹤洋 邵炜刚 俞斌 刘小光 曹大元 钱宇平 江铸久 芮乃伟 华以刚 陈祖德 吴淞笙 王汝南 柯洁 时越 唐韦星 芈昱廷 周睿羊 陈耀烨 范廷钰 连笑 杨鼎新 谢科 丁浩 王星昊 李轩豪 於之莹 王晨星 檀啸 江维杰 党毅飞 辜梓豪 张学斌 黄云嵩 范蕴若 赵晨宇 许嘉阳 黑胜 白中盘胜"
	taiwanese := "林海峰 王立誠 周俊勳 紅面棋王 蕭正浩 陳詩淵 林至涵 林書陽 王元均 陳祺睿 許皓鋐 賴均輔 黃翊祖 徐浩峰 林君諺 簡靖庭 俞俐均 黑嘉嘉 張凱馨 謝依旻 蘇聖芳 張栩 王銘琬 余正麒 潘善琪 楊志德 彭景華 周平強 夏大銘 陳永安 黑中盤勝 白勝半目"
	koreans := "조치훈 조훈현 서봉수 유창혁 이창호 이세돌 최철한 박영훈 원성진 강동윤 김지석 박정환 신진서 신민준 변상일 이동훈 나현 목진석 안조영 송태곤 윤준상 홍성지 허영호 조한승 김인 조남철 최정 오유진 김은지 조혜연 루이나이웨이 한국기원 흑불계승 백반집승 김승준 양재호 안성준 박진솔"
	russians := "Динерштейн Шикшин Иванов Петров Сидоров Кузнецов Ильязов Бураков Лазарев Соловьёв Смирнов Васильев Ковалёва Тимур Илья Александр Вадим Черные Белые ЧЕРНЫЕ спасибо Кубок_России игра привет Чемпионат Сурин Гершкович Мирошниченко Шаврин"
	westerners := "Müller Jäger Groß Köhler Björn Wåhlin Håkan Åberg Pääkkönen Hämäläinen Väinö André Rémi Jérôme François Benoît José Martínez Muñoz García João São Conceição Çelik Gerardo¿ L’Hôpital “Anna” 5°kyu Großmeister Jürgen Öhman Ärlig Ünal Éric Ó_Briain Íñigo"
	for _, x := range []struct {
		name     string
		encoding encoding.Encoding
		names    string
	}{
		{"Shift_JIS", japanese.ShiftJIS, japaneseNames}, {"EUC-JP", japanese.EUCJP, japaneseNames}, {"GB18030", simplifiedchinese.GB18030, chineseNames},
		{"Big5", traditionalchinese.Big5, taiwanese}, {"EUC-KR", korean.EUCKR, koreans}, {"Windows-1251", charmap.Windows1251, russians},
		{"KOI8-R", charmap.KOI8R, russians}, {"Windows-1252", charmap.Windows1252, westerners},
	} {
		names := strings.Fields(x.names)
		wrong, pairs := 0, 0
		for i, black := range names {
			for j, white := range names {
				if i == j {
					continue
				}
				record := encoded(t, x.encoding, "(;PB["+black+"]PW["+white+"])")
				pairs++
				if got := looksLike(sampled([]byte(record))).name; got != x.name {
					wrong++
					t.Logf("%s: %s and %s look like %s", x.name, black, white, got)
				}
			}
		}
		if 100*wrong > pairs {
			t.Errorf("%s: %d of %d are taken for another", x.name, wrong, pairs)
		}
	}
}
