package matrixtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

var dendrite = sync.OnceValues(buildDendrite)

// build is the folder with the programs dendrite and generate-keys.
func build(t testing.TB) string {
	t.Helper()
	folder, err := dendrite()
	if err != nil {
		tier.Missing(t, "there is no Dendrite: "+err.Error())
	}
	return folder
}

// buildDendrite builds Dendrite once for each version of its module and of Go,
// and keeps it in the user's cache.
func buildDendrite() (string, error) {
	module, err := findModule()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return "", err
		}
		sum.Write(data)
	}
	version, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		return "", fmt.Errorf("go is not here: %v", err)
	}
	fmt.Fprintf(sum, "%s %s/%s", version, runtime.GOOS, runtime.GOARCH)
	return keep("dendrite-"+hex.EncodeToString(sum.Sum(nil)[:8]), func(folder string) error {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", folder+string(filepath.Separator),
			"github.com/element-hq/dendrite/cmd/dendrite", "github.com/element-hq/dendrite/cmd/generate-keys")
		command.Dir = module
		command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
		command.WaitDelay = time.Second
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %v\n%s", err, out)
		}
		return nil
	})
}

// findModule is the folder of Dendrite's module in this source tree. It cannot
// be embedded, because it is a module of its own.
func findModule() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		module := filepath.Join(folder, "adapters", "matrix", "matrixtest", "dendrite")
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
			return module, nil
		}
		up := filepath.Dir(folder)
		if up == folder {
			return "", errors.New("its module is not above the working directory")
		}
		folder = up
	}
}

// keep is the folder of that name in the user's cache, which is made by fill
// when it is not there. Several processes may ask at once.
func keep(name string, fill func(folder string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "halfpoint-test")
	folder := filepath.Join(cache, name)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(folder + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	fresh, err := os.MkdirTemp(cache, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := fill(fresh); err != nil {
		return "", err
	}
	if err := os.Rename(fresh, folder); err != nil {
		if _, there := os.Stat(folder); there != nil {
			return "", err
		}
	}
	return folder, nil
}
