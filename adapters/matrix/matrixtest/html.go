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
// reader for what the bot sends, not a browser.
func readHTML(source string) string {
	var b strings.Builder
	pre := false
	fresh := true  // at the start of a line
	space := false // a space is owed before the next word
	write := func(s string) {
		if pre {
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
		if kind == html.TextToken {
			write(token.Data)
			continue
		}
		if token.Data == "br" || blocks[token.Data] && !fresh {
			b.WriteByte('\n')
		}
		if token.Data == "br" || blocks[token.Data] {
			fresh, space = true, false
		}
		switch {
		case token.Data == "pre":
			pre = kind == html.StartTagToken
		case token.Data == "summary" && kind == html.StartTagToken:
			b.WriteString("▸ ")
		}
	}
	return strings.TrimRight(b.String(), "\n ")
}
