package web

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/render"
)

// The modules of the pages do what their own tests say, which need no browser.
func TestModules(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		tier.Missing(t, "there is no Node on PATH: install the package nodejs")
	}
	tests, err := filepath.Glob("testdata/page/*.test.mjs")
	if err != nil || len(tests) == 0 {
		t.Fatal(tests, err)
	}
	if out, err := exec.CommandContext(t.Context(), node, append([]string{"--test", "--test-reporter=dot"}, tests...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Each module does one thing, and what the page of a game may load is small.
func TestModulesAreShort(t *testing.T) {
	game := len(render.SVGCSS())
	for _, name := range assets {
		data, err := page.ReadFile("page" + name)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(data), "\n"); strings.HasSuffix(name, ".js") && lines > 300 {
			t.Errorf("%s has %d lines", name, lines)
		}
		if strings.HasPrefix(name, "/room") {
			continue
		}
		game += len(data)
		if strings.Contains(string(data), `from "./room/`) {
			t.Errorf("%s knows of the talk in the room", name)
		}
	}
	if t.Logf("%d bytes", game); game > 96_000 {
		t.Errorf("the page of a game may load %d bytes of scripts and styles, want at most 96,000", game)
	}
}
