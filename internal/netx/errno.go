package netx

import (
	"errors"
	"syscall"
)

// HasErrno reports whether err comes from an error number of the system, among them
// those that sockets have on Windows.
func HasErrno(err error, number syscall.Errno) bool {
	return errors.Is(err, number) || errors.Is(err, socketErrno(number))
}
