package matrixtest

import (
	"strings"

	"golang.org/x/net/html"
)

// blocks are the elements that stand on lines of their own.
var blocks = map[string]bool{
	"p": true, "div": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true,
	"ul": true, "ol": true, "li": true, "pre": true, "blockquote": true, "details": true, "summary": true,
	"table": true, "thead": true, "tbody": true, "tr": true, "hr": true,
}

// readHTML is a formatted body as it is read: lines, without marks. It is a
// reader for the elements that Matrix allows, not a browser.
func readHTML(source string) string {
	var b strings.Builder
	pre, skip := 0, 0
	fresh := true  // at the start of a line
	space := false // a space is owed before the next word
	line := func() {
		if !fresh {
			b.WriteByte('\n')
		}
		fresh, space = true, false
	}
	write := func(s string) {
		if skip > 0 {
			return
		}
		if pre > 0 {
			b.WriteString(s)
			fresh = strings.HasSuffix(s, "\n") || s == "" && fresh
			return
		}
		for _, r := range s {
			if strings.ContainsRune(" \t\r\n", r) {
				space = !fresh
				continue
			}
			if space {
				b.WriteByte(' ')
			}
			space, fresh = false, false
			b.WriteRune(r)
		}
	}
	tokens := html.NewTokenizer(strings.NewReader(source))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		token := tokens.Token()
		closing := kind == html.EndTagToken
		switch name := token.Data; {
		case kind == html.TextToken:
			write(name)
		case name == "br":
			if skip == 0 {
				b.WriteByte('\n')
				fresh, space = true, false
			}
		case name == "mx-reply" && closing:
			skip = max(skip-1, 0)
		case name == "mx-reply":
			skip++
		case blocks[name] && skip == 0:
			line()
			switch {
			case name == "pre" && closing:
				pre = max(pre-1, 0)
			case name == "pre":
				pre++
			case name == "hr":
				write("———")
				line()
			case name == "li" && !closing:
				b.WriteString("• ")
			case name == "summary" && !closing:
				b.WriteString("▸ ")
			}
		case (name == "td" || name == "th") && !closing:
			space = !fresh
		}
	}
	return strings.TrimRight(b.String(), "\n ")
}
