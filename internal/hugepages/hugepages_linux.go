package hugepages

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

// offered reports whether Linux makes pages large where a process says so, of 2 MB (on
// some kernels for arm64 it is 512), and addresses are free.
func offered() bool {
	const settings = "/sys/kernel/mm/transparent_hugepage/"
	mode, err := os.ReadFile(settings + "enabled")
	if err != nil || !bytes.Contains(mode, []byte("[madvise]")) {
		return false
	}
	size, err := os.ReadFile(settings + "hpage_pmd_size")
	if err != nil || strings.TrimSpace(string(size)) != "2097152" {
		return false
	}
	var limit syscall.Rlimit
	return syscall.Getrlimit(syscall.RLIMIT_AS, &limit) == nil && limit.Cur == ^uint64(0)
}

func region(begin string, size int) *Heap {
	return &Heap{start: uintptr(unsafe.Pointer(unsafe.StringData(begin))), size: uintptr(size)}
}

// advise is about memory that is the heap's. An advice that is not taken costs time alone.
func advise(start, size uintptr, large bool) {
	advice := syscall.MADV_NOHUGEPAGE
	if large {
		advice = syscall.MADV_HUGEPAGE
	}
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, size, uintptr(advice))
}
