package store

import (
	"database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// part ends the name of a file that is being written.
const part = ".part"

// A Part is a new file that gets its name when it is complete. Only its owner may read it.
// Where the system allows, it is locked, so that nobody takes it for one that a killed
// process has left.
type Part struct {
	*os.File
	target   string
	nameless bool        // it loses its name when a copy is begun, and conn is to keep it;
	conn     driver.Conn // with the complete copy
}

// Create begins a file with a name that nothing has yet, in a directory that exists. It
// removes what killed processes have left of such a file. To end, call Publish or Discard.
func Create(name string) (*Part, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, fs.ErrExist
	}
	removeParts(path, "")
	return createPart(path)
}

// createPart begins a file that is to be called path.
func createPart(path string) (*Part, error) {
	for {
		f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+part)
		if err != nil {
			return nil, withoutPath(err)
		}
		p := &Part{File: f, target: path}
		switch err := lockFile(f); {
		case err == nil && same(f, f.Name()):
			return p, nil
		case err != nil && !errors.Is(err, ErrInUse):
			p.Discard()
			return nil, withoutPath(err)
		}
		p.Discard() // before it was locked, somebody took it for one that was left
	}
}

// same reports whether f is still the file at path.
func same(f *os.File, path string) bool {
	ours, err1 := f.Stat()
	there, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(ours, there)
}

// Publish waits until the disk has the file, gives it its name, and waits until the disk
// has that. If something got the name meanwhile, it returns fs.ErrExist. After an error
// there is no file.
func (p *Part) Publish() error {
	defer p.Discard()
	if err := errors.Join(p.Sync(), p.Close()); err != nil { // Windows renames no open file
		return diskFull(withoutPath(err))
	}
	passed("publish")
	err := os.Link(p.Name(), p.target)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fs.ErrExist
	case err != nil: // a file system without hard links
		if _, err := os.Lstat(p.target); err == nil {
			return fs.ErrExist
		}
		if err := os.Rename(p.Name(), p.target); err != nil {
			return withoutPath(err)
		}
	}
	passed("published")
	if err := syncFolder(p.target); err != nil {
		os.Remove(p.target)
		return withoutPath(err)
	}
	return nil
}

// Discard removes the file, unless it has its name already.
func (p *Part) Discard() {
	p.Close()
	os.Remove(p.Name())
	for _, suffix := range sidecars {
		os.Remove(p.Name() + suffix)
	}
}

// removeParts removes the unfinished files that killed processes have left, whose names
// begin with a path and contain more, and the logs beside those. It ignores errors, and
// returns the number of files.
func removeParts(path, more string) (n int) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		name := e.Name()
		for _, suffix := range sidecars {
			name = strings.TrimSuffix(name, suffix)
		}
		if !strings.HasPrefix(name, filepath.Base(path)+".") || !strings.HasSuffix(name, part) || !strings.Contains(name, more) || !e.Type().IsRegular() {
			continue
		}
		if inWork(filepath.Join(filepath.Dir(path), name)) {
			continue
		}
		if os.Remove(filepath.Join(filepath.Dir(path), e.Name())) == nil && name == e.Name() {
			n++
		}
	}
	return n
}

// inWork reports whether a process is writing an unfinished file.
func inWork(name string) bool {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(lockFile(f), ErrInUse)
}

// onStep, unless it is nil, is called before each step of Backup and Restore that changes
// a file, and of others that tests wait for. Tests let the process die there.
var onStep func(step string)

func passed(step string) {
	if onStep != nil {
		onStep(step)
	}
}
