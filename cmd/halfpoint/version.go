package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

// Run prints the version of the program, its commit and the version of Go.
func (*versionCmd) Run(e *env) error {
	_, err := fmt.Fprintln(e.out, versionLine())
	return err
}

func versionLine() string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprintf("halfpoint %s (commit %s, %s, %s/%s)", version(), commit(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version returns the version that is in the build, "devel" if there is none.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "(devel)" {
		return "devel"
	}
	return cmp.Or(info.Main.Version, "devel")
}

// commit returns the commit of the build, if the build knows it. A build of a downloaded
// module (go install …@v1.2.3) knows only its version.
func commit(info *debug.BuildInfo) string {
	id, modified := "unknown", ""
	if info == nil {
		return id
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			id = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	return id + modified
}
