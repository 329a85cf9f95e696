// Notices prints the licences of everything in the program that others wrote: Go, the modules
// that are linked, and the files that are embedded. A release needs them beside the program.
// It fails if one of them has no licence.
//
//	go run ./internal/notices > THIRD-PARTY-NOTICES.txt
//
// The variables GOOS and GOARCH choose the platform, as they do for go build.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	pieces, err := linked()
	if err == nil {
		err = write(os.Stdout, pieces)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// A piece is a part of the program that others wrote.
type piece struct {
	name   string
	source string            // how to get it, as its licence may demand (MPL-2.0 does); empty: it is in this repository
	texts  map[string]string // by the name of the file
}

// A listed is what go list says about a package.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	EmbedFiles []string
	Module     *struct {
		Path, Version, Dir string
		Main               bool
	}
}

const program = "github.com/halfpoint-go/halfpoint/cmd/halfpoint"

// linked returns what others wrote of the program: Go, then the modules, then the files that
// this module embeds, each in the order of their names.
func linked() ([]piece, error) {
	list := exec.Command("go", "list", "-deps", "-tags=goolm", "-json=ImportPath,Dir,Standard,EmbedFiles,Module", program)
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	var complaint bytes.Buffer
	list.Stderr = &complaint
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, complaint.String())
	}
	modules, embedded := map[string]*piece{}, []piece{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		switch {
		case p.Standard:
		case p.Module.Main:
			fonts, err := embeds(p)
			if err != nil {
				return nil, err
			}
			embedded = append(embedded, fonts...)
		case p.Module.Version == "" || p.Module.Dir == "":
			return nil, fmt.Errorf("%s is not a released module", p.Module.Path)
		default:
			m := modules[p.Module.Path]
			if m == nil {
				m = &piece{p.Module.Path + " " + p.Module.Version, "go mod download " + p.Module.Path + "@" + p.Module.Version, map[string]string{}}
				modules[p.Module.Path] = m
			}
			if err := m.add(p.Module.Dir, p.Dir); err != nil {
				return nil, err
			}
		}
	}
	all, err := golang()
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		all = append(all, *m)
	}
	byName := func(a, b piece) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(all[1:], byName)
	slices.SortFunc(embedded, byName)
	return append(all, embedded...), nil
}

// golang returns Go itself, whose standard library and runtime are in every program.
func golang() ([]piece, error) {
	out, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	p := piece{"Go " + strings.TrimPrefix(version, "go"), "https://go.dev/dl/" + version + ".src.tar.gz", map[string]string{}}
	return []piece{p}, p.add(root, root)
}

// licence matches the names of files that hold a licence or a notice.
var licence = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)([-_.][^/]*)?$`)

// chosen are modules whose licence is a choice, with the file of the one that we choose.
var chosen = map[string]string{"github.com/golang/freetype": "licenses/ftl.txt"}

// add adds the licences in the folder of a package and in those above it, up to the root of
// its module.
func (p *piece) add(root, dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.IsDir() && licence.MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".go") {
				if err := p.read(root, filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
		if dir == root || dir == filepath.Dir(dir) {
			break
		}
	}
	if file, ok := chosen[strings.Fields(p.name)[0]]; ok {
		return p.read(root, filepath.Join(root, file))
	}
	return nil
}

func (p *piece) read(root, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(root, file)
	if err != nil {
		return err
	}
	p.texts[filepath.ToSlash(name)] = strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
	return nil
}

// embeds returns the fonts that a package of this module embeds. The licence of a font is beside
// it; its name continues with that of the font, as far as the first hyphen.
func embeds(p listed) (fonts []piece, err error) {
	for _, file := range p.EmbedFiles {
		switch path.Ext(file) {
		case ".css", ".html", ".js", ".json", ".sql", ".svg", ".txt": // all of them ours
			continue
		case ".otf", ".ttf":
		default:
			return nil, fmt.Errorf("%s embeds %s, a kind of file whose author is not known here", p.ImportPath, file)
		}
		family, _, _ := strings.Cut(path.Base(file), "-")
		if slices.ContainsFunc(fonts, func(p piece) bool { return p.name == "the font "+family }) {
			continue
		}
		font := piece{name: "the font " + family, texts: map[string]string{}}
		for _, name := range []string{"LICENSE-" + family + ".txt", "README.md"} { // which says who made it, and what we changed
			if err := font.read(p.Dir, filepath.Join(p.Dir, path.Dir(file), name)); err != nil {
				return nil, err
			}
		}
		fonts = append(fonts, font)
	}
	return fonts, nil
}

const introduction = `THIRD-PARTY NOTICES

Halfpoint is distributed under the licence in the file LICENSE. The program contains the following
software and fonts, which others wrote and which have licences of their own. Where there is a
choice of licences, the one printed here was chosen. Nothing was changed, but where it says so.

Portions of this software are copyright © 2010 The FreeType Project (www.freetype.org).
All rights reserved.
`

// write prints the licences of the pieces. A text that several have is printed once.
func write(w io.Writer, pieces []piece) error {
	var out bytes.Buffer
	out.WriteString(introduction)
	printed := map[string]string{} // by text: who has it
	for _, p := range pieces {
		if len(p.texts) == 0 {
			return fmt.Errorf("%s has no licence", p.name)
		}
		fmt.Fprintf(&out, "\n%s\n%s\n", strings.Repeat("=", 80), p.name)
		if p.source != "" {
			fmt.Fprintf(&out, "Source: %s\n", p.source)
		}
		names := make([]string, 0, len(p.texts))
		for name := range p.texts {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			text := p.texts[name]
			switch first, again := printed[text]; {
			case text == "":
				return fmt.Errorf("%s of %s is empty", name, p.name)
			case again:
				fmt.Fprintf(&out, "\n%s: the same as %s\n", name, first)
			default:
				printed[text] = name + " of " + p.name
				fmt.Fprintf(&out, "\n--- %s\n\n%s\n", name, text)
			}
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}
