package main

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Prometheus reads how long boards took; nobody is named. An address that is taken is
// reported in one line.
func TestMetrics(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := taken.Addr().String()
	t.Setenv("HALFPOINT_METRICS", address)
	if status, says := halfpoint("--listen", "127.0.0.1:0", "--database", filepath.Join(t.TempDir(), "taken.db")); status != 1 ||
		!strings.HasPrefix(says, "halfpoint: metrics: listen tcp "+address) {
		t.Errorf("a taken address: %d %s", status, says)
	}
	taken.Close()

	shown, stop, err := metrics(address, http.NotFoundHandler())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	shown("web", 300*time.Millisecond)
	shown("web", 2*time.Minute)
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r.Status, err)
	}
	for _, line := range []string{`bucket{platform="web",le="0.25"} 0`, `bucket{platform="web",le="0.5"} 1`, `bucket{platform="web",le="60"} 1`,
		`bucket{platform="web",le="120"} 2`, `count{platform="web"} 2`} {
		if !strings.Contains(string(text), "\nhalfpoint_board_delay_seconds_"+line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
}
