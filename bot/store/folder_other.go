//go:build !unix

package store

// syncFolder does nothing: here names cannot be synced.
func syncFolder(string) error { return nil }

// ownedLike does nothing.
func ownedLike(file, path string) error { return nil }

// lockExisting does nothing: here files are not locked.
func lockExisting(string) (release func(), err error) { return func() {}, nil }
