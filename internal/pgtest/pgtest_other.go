//go:build !unix

// Package pgtest starts a PostgreSQL for tests, which only Unix can.
package pgtest

import "testing"

// A Server is a PostgreSQL.
type Server struct{}

// Start skips the test.
func Start(t testing.TB) *Server {
	t.Skip("there is no PostgreSQL here")
	return nil
}

// Database is never called.
func (s *Server) Database(testing.TB) string { return "" }
