package render

import (
	"strings"
	"testing"
)

func TestCoordinates(t *testing.T) {
	for _, x := range []struct{ style, columns, rows string }{
		{"letters", "A B C D E F G H J K L M N O P Q R S T U V W X Y Z", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25"},
		{"numbers", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25", "25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1"},
		{"kanji", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25", "廿五 廿四 廿三 廿二 廿一 廿 十九 十八 十七 十六 十五 十四 十三 十二 十一 十 九 八 七 六 五 四 三 二 一"},
	} {
		var columns, rows []string
		for i := range 25 {
			columns = append(columns, columnName(x.style, i))
			rows = append(rows, rowName(x.style, i, 25))
		}
		if got := strings.Join(columns, " "); got != x.columns {
			t.Errorf("%s: %s", x.style, got)
		}
		if got := strings.Join(rows, " "); got != x.rows {
			t.Errorf("%s: %s", x.style, got)
		}
	}
}
