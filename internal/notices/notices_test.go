package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// Everything that is linked has a part in the notices, with a text in it.
func TestNotices(t *testing.T) {
	pieces, err := linked()
	if err != nil {
		t.Fatal(err)
	}
	var out, again bytes.Buffer
	if err := write(&out, pieces); err != nil {
		t.Fatal(err)
	}
	if err := write(&again, pieces); err != nil || out.String() != again.String() {
		t.Errorf("the second time it is different: %v", err)
	}
	parts := map[string]string{}
	for part := range strings.SplitSeq(out.String(), "\n"+strings.Repeat("=", 80)+"\n") {
		name, text, _ := strings.Cut(part, "\n")
		parts[name] = text
	}
	list, err := exec.Command("go", "list", "-deps", "-tags=goolm", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for module := range strings.Lines(string(list)) {
		module = strings.TrimSpace(module)
		if text := strings.ToLower(parts[module]); !strings.Contains(text, "licen") && !strings.Contains(text, "copying") {
			t.Errorf("no licence of %s: %q", module, text)
		}
	}
	holds := func(name, text string) {
		t.Helper()
		for part, has := range parts {
			if strings.HasPrefix(part+" ", name+" ") && strings.Contains(has, text) {
				return
			}
		}
		t.Errorf("%q is not in the part of %s", text, name)
	}
	holds("Go", "Copyright 2009 The Go Authors")
	holds("github.com/golang/freetype", "The FreeType Project LICENSE")
	holds("go.yaml.in/yaml/v3", "--- NOTICE")                    // Apache-2.0 demands it
	holds("modernc.org/libc", "musl")                            // what it was translated from
	holds("github.com/klauspost/compress", "--- gzhttp/LICENSE") // of a package alone
	holds("maunium.net/go/mautrix", "Source: go mod download maunium.net/go/mautrix@v")
	holds("the font NotoSansCJK", "SIL OPEN FONT LICENSE")
	holds("the font RobotoCondensed", "README.md") // what we changed
}

func TestNoLicence(t *testing.T) {
	root := t.TempDir()
	p := piece{name: "example.org/lawless v1.0.0", texts: map[string]string{}}
	if err := p.add(root, root); err != nil {
		t.Fatal(err)
	}
	if err := write(&bytes.Buffer{}, []piece{p}); err == nil || err.Error() != "example.org/lawless v1.0.0 has no licence" {
		t.Error(err)
	}
	if _, err := embeds(listed{ImportPath: "bells", EmbedFiles: []string{"a.txt", "gong.ogg"}}); err == nil {
		t.Error("takes a sound of which it knows nothing")
	}
}
