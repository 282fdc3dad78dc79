package sqlite

import "syscall"

// forget takes pages of a file that is mapped out of the process's memory; they
// come back when they are used. What was written to them stays in the file. The
// advice may be refused, which costs nothing but memory.
func forget(mapped []byte) { _ = syscall.Madvise(mapped, syscall.MADV_DONTNEED) }
