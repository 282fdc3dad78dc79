//go:build !linux

package hugepages

func offered() bool { return false }

func region(string, int) *Heap { return nil }

func advise(_, _ uintptr, _ bool) {}
