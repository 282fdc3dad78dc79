package filepages

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// mapped is how many kilobytes of files the process has mapped, also of those in memory.
func mapped(t *testing.T) (n int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"\nRssFile:", "\nRssShmem:"} {
		kB := 0
		_, rest, _ := strings.Cut(string(status), field)
		if _, err := fmt.Sscan(rest, &kB); err != nil {
			t.Fatal(err)
		}
		n += kB
	}
	return n
}

// What is mapped of a program is given back, and there again when it is read.
func TestRelease(t *testing.T) {
	const size = 64 << 20
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	program, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(program); err != nil {
			t.Error(err)
		}
	}()
	touch := func() {
		for i := 0; i < size; i += 4096 {
			if program[i] != 0 {
				t.Fatalf("%d is read where there is 0", program[i])
			}
		}
	}
	touch()
	before := mapped(t)
	release(path, false)
	if n := mapped(t); n < before-8<<10 {
		t.Errorf("constants of a program that is moved were given back: %d kB are mapped, %d before", n, before)
	}
	release(path, true)
	if n := mapped(t); n > before-48<<10 {
		t.Errorf("%d kB are mapped, %d before", n, before)
	}
	touch()
}

// A process goes on whose own program was given back.
func TestReleaseOfOneself(t *testing.T) {
	for range 10 {
		Release()
		runtime.GC()
		if got := fmt.Sprintf("%d %s %.1f", 1, "two", 3.0); got != "1 two 3.0" {
			t.Fatal(got)
		}
	}
}

// Nothing else is given back than what nobody has written to.
func TestConstant(t *testing.T) {
	for line, want := range map[string][2]bool{ // of a fixed program, of another; order-independent
		"00400000-01a2b000 r-xp 00000000 fe:00 123                                /bin/minido":           {true, true},
		"01a2b000-03000000 r--p 0162b000 fe:00 123                                /bin/minido":           {true, false},
		"03000000-03100000 rw-p 02c00000 fe:00 123                                /bin/minido":           {false, false},
		"03000000-03100000 r--s 02c00000 fe:00 123                                /bin/minido":           {false, false},
		"7f0000000000-7f0000001000 r--p 00000000 fe:00 124                        /bin/minido.so":        {false, false},
		"c000000000-c004000000 rw-p 00000000 00:00 0":                                                    {false, false},
		"00400000-01a2b000 r-xp 00000000 fe:00 123                                /bin/minido (deleted)": {false, false},
	} {
		for i, fixed := range []bool{true, false} {
			if _, _, ok := constant(line, "/bin/minido", fixed); ok != want[i] {
				t.Errorf("%s: %v, fixed %v", line, ok, fixed)
			}
		}
	}
	if start, end, _ := constant("00400000-01a2b000 r-xp 00000000 fe:00 123 /bin/minido", "/bin/minido", true); start != 0x400000 || end != 0x1a2b000 {
		t.Errorf("%x to %x", start, end)
	}
}

// This program is as its file says, or not; either is found out.
func TestIsFixed(t *testing.T) {
	if _, err := isFixed("/proc/self/exe"); err != nil {
		t.Error(err)
	}
	if _, err := isFixed(os.DevNull); err == nil {
		t.Error("an empty file is a program")
	}
}
