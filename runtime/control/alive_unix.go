//go:build unix

package control

import (
	"errors"

	"golang.org/x/sys/unix"
)

// alive reports whether a process of that id runs.
func alive(pid int) bool {
	err := unix.Kill(pid, 0)
	return pid > 0 && (err == nil || errors.Is(err, unix.EPERM))
}
