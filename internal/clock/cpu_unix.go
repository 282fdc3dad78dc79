//go:build unix

package clock

import (
	"syscall"
	"time"
)

// CPU is the CPU time of all threads of this process since it started, of the user
// and the system together. It takes a system call, and is safe for concurrent use.
func (Real) CPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
