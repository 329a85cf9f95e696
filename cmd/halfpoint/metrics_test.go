package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The program tells Prometheus how long its boards took; nobody is named. A place
// that is taken is said in one line.
func TestMetrics(t *testing.T) {
	dir := t.TempDir()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	t.Setenv("HALFPOINT_METRICS", address)
	var errout bytes.Buffer
	if code := run([]string{"--listen", "127.0.0.1:0", "--database", filepath.Join(dir, "taken.db")}, strings.NewReader(""), io.Discard, &errout); code != 1 ||
		!strings.HasPrefix(errout.String(), "halfpoint: metrics: listen tcp "+address) {
		t.Errorf("a taken address: %d %s", code, errout.String())
	}
	free.Close()

	s := serve(t, filepath.Join(dir, "game.db"))
	for n, text := range []string{"/new aga 9x9", "/place D4", "/place E5"} {
		if answer, ok := s.ask(uuid(n+1), []string{"black", "black", "white"}[n], text); !ok {
			t.Fatalf("%s: %s", text, answer)
		}
		counted, told := fmt.Sprintf("halfpoint_board_delay_seconds_count{platform=\"web\"} %d\n", n+1), ""
		for late := time.Now().Add(time.Minute); !strings.Contains(told, counted); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("%d boards were shown, but Prometheus is told\n%s", n+1, told)
			}
			r, err := http.Get("http://" + address + "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil || r.StatusCode != http.StatusOK {
				t.Fatal(r.Status, err)
			}
			told = string(text)
		}
	}
	if err := s.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("%v\n%s", err, s.stderr.String())
	}
}
