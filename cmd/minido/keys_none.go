//go:build !linux && !darwin

package main

import (
	"errors"
	"os"
)

// keys: this system's terminals are not read key by key yet (docs/compatibility.md).
type keys struct{}

func hasKeys(*os.File) bool { return false }

func openKeys(*os.File) (*keys, error) {
	return nil, errors.New("hotkeys work on Linux and macOS")
}

func (*keys) next([]byte) (int, error) { return 0, errors.ErrUnsupported }
func (*keys) interrupt()               {}
func (*keys) close() error             { return nil }
