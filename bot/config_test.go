package bot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The example says what the defaults are, and leaves nothing out.
func TestExampleConfiguration(t *testing.T) {
	path := filepath.Join("..", "config.example.yaml")
	s, err := ReadSettings(path)
	if err != nil {
		t.Fatal(err)
	}
	if s.Listen != Defaults.Listen || s.Database != Defaults.Database || len(s.Hosts) != 0 {
		t.Errorf("the example has %+v, the defaults are %+v", s, Defaults)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if !strings.Contains(string(text), "\n"+key+":") {
			t.Errorf("the example does not know %s", key)
		}
	}
}

func TestSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("listen: 0.0.0.0:80\nhosts: [go.example.org]\n")
	s, err := ReadSettings(file)
	if err != nil || s.Listen != "0.0.0.0:80" || len(s.Hosts) != 1 || s.Database != Defaults.Database {
		t.Errorf("%+v %v", s, err)
	}
	t.Setenv("HALFPOINT_LISTEN", "127.0.0.1:1")
	t.Setenv("HALFPOINT_RECORDS", "elsewhere")
	t.Setenv("HALFPOINT_HOSTS", "a.example,b.example")
	if s, err = ReadSettings(file); err != nil || s.Listen != "127.0.0.1:1" || len(s.Hosts) != 2 {
		t.Errorf("%+v %v", s, err)
	}
	write("databse: x\n")
	if _, err = ReadSettings(file); err == nil || !strings.Contains(err.Error(), "databse: no such setting; did you mean database?") {
		t.Error(err)
	}
	write("listen: 7\n")
	t.Setenv("HALFPOINT_LISTEN", "")
	if _, err = ReadSettings(file); err == nil || !strings.Contains(err.Error(), `listen: "7" is not an address`) {
		t.Error(err)
	}
}
