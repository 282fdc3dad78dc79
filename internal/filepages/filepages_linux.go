package filepages

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// Release has the process map nothing of its program's code and constants: what is used next is mapped
// again, out of the system's cache of files, a piece at a time. It may be called at any time. A
// program that is moved when it starts has constants that were written then, and one that is being
// debugged may have code that was: these stay. Where that cannot be found out, nothing is done.
func Release() {
	const self = "/proc/self/"
	program, err := os.Readlink(self + "exe")
	if err != nil {
		return
	}
	status, err := os.ReadFile(self + "status")
	if err != nil || !bytes.Contains(status, []byte("\nTracerPid:\t0\n")) {
		return
	}
	fixed, err := isFixed(self + "exe")
	if err != nil {
		return
	}
	release(program, fixed)
}

// release has the process map nothing of what it only reads of a program.
func release(program string, fixed bool) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		if start, end, ok := constant(strings.TrimSuffix(line, "\n"), program, fixed); ok {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, end-start, syscall.MADV_DONTNEED) // what is refused stays mapped
		}
	}
}

// isFixed reports whether a program stays at the addresses that its file says (ET_EXEC).
func isFixed(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := [18]byte{}
	_, err = io.ReadFull(f, head[:])
	return head[16] == 2 || head[17] == 2, err // in either order of bytes; no other type has a 2
}

// constant reports whether a line of /proc/self/maps is of a part of the program that nobody has
// written to.
func constant(line, program string, fixed bool) (start, end uintptr, ok bool) {
	rest, is := strings.CutSuffix(line, " "+program)
	if !is {
		return 0, 0, false
	}
	var permissions string
	if _, err := fmt.Sscanf(rest, "%x-%x %s", &start, &end, &permissions); err != nil {
		return 0, 0, false
	}
	return start, end, permissions == "r-xp" || permissions == "r--p" && fixed
}
