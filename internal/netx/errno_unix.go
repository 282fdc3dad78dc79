//go:build unix

package netx

import "syscall"

func socketErrno(number syscall.Errno) syscall.Errno { return number }
