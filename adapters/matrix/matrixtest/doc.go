// Package matrixtest is what the tests of the Matrix adapter talk to: a homeserver,
// people who read and write there, and a proxy that makes the faults of homeservers
// and networks.
//
// There are two homeservers behind the same type. InMemory is a double in this
// process, which in a [Bubble] runs in virtual time: nearly all tests use it. Start and
// Shared are the real Dendrite, built from a Go module of its own and run on loopback.
// TestHomeserver holds both to the same, in the change tier.
//
// A Stranger has a client that nobody here wrote: matrix-js-sdk, which needs Node, or
// matrix-nio, which needs Debian's python3-matrix-nio and python3-olm; both need
// Dendrite. Where one of these is missing, a test is skipped with the reason in the
// everyday tier, and fails in the others.
package matrixtest
