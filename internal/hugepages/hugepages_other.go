//go:build !linux

package hugepages

func offered() bool { return false }

func region([]byte) *Heap { return nil }

func advise(_, _ uintptr, _ bool) {}
