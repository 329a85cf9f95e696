// Package matrixtest is what the tests of the Matrix adapter talk to: a real
// homeserver (Dendrite, built from a Go module of its own and run on
// loopback), people who read and write there, a proxy that makes the faults a
// homeserver and a network make, and a stranger: matrix-js-sdk, a client that
// nobody here wrote.
//
// Where Dendrite cannot be built, or Node is not there, a test is skipped with
// the reason, and fails instead when CI is set.
package matrixtest
