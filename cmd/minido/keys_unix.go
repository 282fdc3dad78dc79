//go:build linux || darwin

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"minido.dev/minido/internal/crash"
)

// keys is a terminal that gives each key as it is pressed, without showing it. ^C and
// ^Z stay signals, and output is as before. One goroutine reads; interrupt may be
// called from any, any number of times.
type keys struct {
	fd     int
	before unix.Termios
	wake   [2]int // a pipe; a byte in it ends next
	kept   func() // takes back what a crash would do
}

// hasKeys reports whether f is a terminal of which this process is the foreground:
// one in the background would be stopped when it reads.
func hasKeys(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func openKeys(f *os.File) (*keys, error) {
	k := &keys{fd: int(f.Fd())}
	before, err := unix.IoctlGetTermios(k.fd, getTermios)
	if err != nil {
		return nil, err
	}
	k.before = *before
	var ends [2]int
	if err := unix.Pipe(ends[:]); err != nil {
		return nil, err
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	if err := unix.SetNonblock(ends[1], true); err != nil {
		return nil, err
	}
	k.wake = ends
	single := k.before
	single.Lflag &^= unix.ICANON | unix.ECHO
	single.Cc[unix.VMIN], single.Cc[unix.VTIME] = 1, 0
	k.kept = crash.AtEnd(func() {
		if err := k.restore(); err != nil {
			fmt.Fprintln(os.Stderr, "minido: the terminal keeps its mode (stty sane gives it back):", err)
		}
	})
	return k, unix.IoctlSetTermios(k.fd, setTermios, &single)
}

func (k *keys) next(buffer []byte) (int, error) {
	for {
		var ready unix.FdSet
		ready.Set(k.fd)
		ready.Set(k.wake[0])
		// poll does not know the terminals of macOS.
		_, err := unix.Select(max(k.fd, k.wake[0])+1, &ready, nil, nil, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if ready.IsSet(k.wake[0]) {
			return 0, io.EOF
		}
		n, err := unix.Read(k.fd, buffer)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n == 0 && err == nil {
			err = io.EOF // it hung up
		}
		return n, err
	}
}

func (k *keys) interrupt() {
	_, _ = unix.Write(k.wake[1], []byte{0}) // a full pipe wakes as well
}

func (k *keys) restore() error { return unix.IoctlSetTermios(k.fd, setTermios, &k.before) }

// close gives the terminal its mode back. next must have ended.
func (k *keys) close() error {
	k.kept()
	return errors.Join(k.restore(), unix.Close(k.wake[0]), unix.Close(k.wake[1]))
}
