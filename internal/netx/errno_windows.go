package netx

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// socketErrno is the number that Windows Sockets uses where package syscall has made
// up one with POSIX's name.
func socketErrno(number syscall.Errno) syscall.Errno {
	switch number {
	case syscall.ECONNREFUSED:
		return windows.WSAECONNREFUSED
	case syscall.ECONNRESET:
		return windows.WSAECONNRESET
	case syscall.ETIMEDOUT:
		return windows.WSAETIMEDOUT
	case syscall.EHOSTUNREACH:
		return windows.WSAEHOSTUNREACH
	case syscall.ENETUNREACH:
		return windows.WSAENETUNREACH
	case syscall.EADDRINUSE:
		return windows.WSAEADDRINUSE
	default:
		return number
	}
}
