//go:build !linux && !darwin

package sqlstore

import "os"

// syncFile writes the file to the disk.
func syncFile(f *os.File) error { return f.Sync() }
