package hugepages

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
)

// kilobytes is how much of the process lies in large pages.
func kilobytes(t *testing.T) (n int) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "AnonHugePages:"); ok {
			if _, err := fmt.Sscan(rest, &n); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}

// What the heap grows into after Prepare lies in large pages, until they shall be small.
func TestHeapLiesInLargePages(t *testing.T) {
	h := Prepare(256 << 20)
	if h == nil {
		t.Skip("this system has no large pages for who asks")
	}
	touch := func() []byte {
		b := make([]byte, 64<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		return b
	}
	before := kilobytes(t)
	large := touch()
	after := kilobytes(t)
	if after-before < 48<<10 {
		t.Errorf("%d kB in large pages after 64 MB, %d before", after, before)
	}
	h.Large(false)
	small := touch()
	if now := kilobytes(t); now > after {
		t.Errorf("%d kB in large pages, %d before they were to be small", now, after)
	}
	runtime.KeepAlive(large)
	runtime.KeepAlive(small)
}

// The preparation touches nothing of what it reserves, whatever the heap was used for.
func TestPreparationTakesNoMemory(t *testing.T) {
	used := make([]byte, 64<<20)
	for i := 0; i < len(used); i += 4096 {
		used[i] = 1
	}
	runtime.KeepAlive(used)
	debug.FreeOSMemory()
	before := faults(t)
	if Prepare(48<<20) == nil {
		t.Skip("this system has no large pages for who asks")
	}
	if n := faults(t) - before; n > 2000 {
		t.Errorf("%d pages were touched", n)
	}
}

// faults is how often the process has touched a page for the first time.
func faults(t *testing.T) int64 {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Minflt
}

// Without such pages nothing is done.
func TestNoLargePages(t *testing.T) {
	var none *Heap
	none.Large(true)
}
