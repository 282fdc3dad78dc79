package clock

import (
	"syscall"
	"time"
)

// CPU is the CPU time of all threads of this process since it started, of the user
// and the system together. It takes a system call, and is safe for concurrent use.
func (Real) CPU() (time.Duration, error) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, err
	}
	var created, exited, system, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &exited, &system, &user); err != nil {
		return 0, err
	}
	return ticks(system) + ticks(user), nil
}

// ticks are the 100 ns that a Filetime counts when it is a length of time.
func ticks(f syscall.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
