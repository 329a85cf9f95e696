//go:build !linux

package main

// lowerPriority does nothing.
func lowerPriority() {}
