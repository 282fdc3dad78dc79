//go:build !linux

package filepages

// Release does nothing: only Linux is asked.
func Release() {}
