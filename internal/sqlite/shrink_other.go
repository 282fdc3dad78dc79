//go:build !linux

package sqlite

// forget keeps the pages: only Linux promises that what was written to them stays.
func forget([]byte) {}
