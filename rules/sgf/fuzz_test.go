package sgf

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

// FuzzRead: whatever is read does not panic, says what is wrong on one line, and takes no
// more than 64 MiB of memory and, where nothing else runs, a second.
func FuzzRead(f *testing.F) {
	addRecords(f)
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	f.Fuzz(func(t *testing.T, data []byte) {
		metrics.Read(allocated)
		before, began := allocated[0].Value.Uint64(), time.Now()
		rec, err := Read(bytes.NewReader(data))
		took := time.Since(began)
		if metrics.Read(allocated); allocated[0].Value.Uint64()-before > 64<<20 {
			t.Errorf("%d bytes are allocated for %d", allocated[0].Value.Uint64()-before, len(data))
		}
		if tier.Soaking() && took > time.Second { // or the machine did something else
			began = time.Now()
			_, _ = Read(bytes.NewReader(data))
			if again := time.Since(began); again > time.Second {
				t.Errorf("%v for %d bytes", again, len(data))
			}
		}
		if err != nil {
			oneLineOnly(t, err)
			return
		}
		if rec.Stopped != nil {
			oneLineOnly(t, rec.Stopped)
		}
		for _, r := range rec.Repairs {
			oneLineOnly(t, errors.New(r.String()))
		}
	})
}

// FuzzWritten: what is read and plays is the same game after writing and reading it.
func FuzzWritten(f *testing.F) {
	addRecords(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, r := range []*rules.Ruleset{&rules.TrompTaylor, &rules.AGA} {
			if _, err := rec.Under(r, rec.Setup.Komi, rec.Dead(), rec.Ending.Seki); err != nil {
				oneLineOnly(t, err)
			}
		}
		r, _, err := rec.Ruleset()
		if err != nil {
			oneLineOnly(t, err)
			return
		}
		g, err := rec.Play(r, rec.Setup.Komi)
		if err != nil {
			oneLineOnly(t, err)
			return
		}
		text := write(t, g, rec.Info)
		back := read(t, text)
		if r, _, err = back.Ruleset(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		again, err := back.Play(r, back.Setup.Komi)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		same(t, again, g)
		if rec.Info.Result != "" && g.Result() == "" && back.Info != rec.Info {
			t.Errorf("%+v, want %+v", back.Info, rec.Info)
		}
	})
}

// addRecords gives a fuzz target records to begin with.
func addRecords(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.sgf")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{
		"\ufeffhello (;SZ[9:5]HA[2]AB[aa:bb]AE[ab]KM[6,5];W[cc];B[tt];W[]XT[resign])",
		"(;RU[japanese@1]SZ[5];B[];W[];B[]XT[resume];W[];B[]XT[resume];XT[no-result])",
		"(;RU[Chinese]CA[ISO-8859-1]PB[M\xfcller\\]];B[dd](;W[cc];B[];W[];B[];W[aa])(;W[bb]))",
		"(;RU[japanese]SZ[3];B[bb];W[];B[];XD[B2]XS[B2]XT[accept])",
		"(;HA[2]SZ[9];B[cc];B[gg];W[ee];B[]XT[pass C7 G3])",
		`(;PB[x\]B[<x];B[dd])`,
	} {
		f.Add([]byte(s))
	}
}

func oneLineOnly(t *testing.T, err error) {
	if s := err.Error(); s == "" || strings.ContainsAny(s, "\r\n\x1b") {
		t.Errorf("not one line: %q", s)
	}
}
