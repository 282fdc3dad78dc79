package evidence

import (
	"os"

	"golang.org/x/sys/unix"
)

// memory is where Linux keeps files in memory (shm_overview(7)).
const memory = "/dev/shm"

// memoryRoom is how much has to be free there, in bytes: the 64 MB of a container
// are for others.
const memoryRoom = 1 << 30

// InMemory is the folder to make a temporary directory in that is to hold size
// bytes: one in memory if it has far more room than that, else "", which stands
// for the system's own (os.MkdirTemp). Making, locking and removing small files costs
// a file system on a disk several times as much as to hold them.
func InMemory(size int64) string {
	var s unix.Statfs_t
	if unix.Statfs(memory, &s) != nil || s.Type != unix.TMPFS_MAGIC || unix.Access(memory, unix.W_OK|unix.X_OK) != nil {
		return ""
	}
	if free := int64(s.Bavail) * s.Bsize; free < memoryRoom+4*size {
		return ""
	}
	return memory
}

// tryLock takes f's lock, which ends with its owner, unless another process has it.
func tryLock(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }
