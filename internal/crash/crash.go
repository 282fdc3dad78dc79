// Package crash ends a process after a panic with a readable report. A panic is always
// a mistake of minido's: what a project does wrong is an exception or a diagnostic.
package crash

import (
	"bytes"
	"fmt"
	"os"
	"sync"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/internal/version"
)

// Exit is the exit code of a process that ended by a mistake of minido's (EX_SOFTWARE of
// sysexits.h).
const Exit = 70

// NewThreads is a scheduler whose panics end the process with the report, on standard
// error.
func NewThreads(c clock.Clock) *sched.Threads {
	t := sched.NewThreads(c)
	t.Panicked(End)
	return t
}

var (
	mu    sync.Mutex
	last  int
	atEnd = map[int]func(){} // guarded by mu
)

// AtEnd has fn called when End ends the process, so that what outlives it (the mode of a
// terminal) is given back; not when the process is killed. remove takes it back. Safe for
// concurrent use.
func AtEnd(fn func()) (remove func()) {
	mu.Lock()
	defer mu.Unlock()
	last++
	id := last
	atEnd[id] = fn
	return func() {
		mu.Lock()
		defer mu.Unlock()
		delete(atEnd, id)
	}
}

// End ends the process after a panic in the function of that name, with its stack.
func End(name string, x any, stack []byte) {
	mu.Lock()
	for _, fn := range atEnd { // order-independent: each gives back something of its own
		fn()
	}
	mu.Unlock()
	fmt.Fprint(os.Stderr, report(name, x, stack))
	os.Exit(Exit)
}

// report is what people are told of a panic in the function of that name.
func report(name string, x any, stack []byte) string {
	if _, below, found := bytes.Cut(stack, []byte("\npanic(")); found { // above it are the functions that report
		if _, place, found := bytes.Cut(below, []byte("\n\t")); found {
			_, stack, _ = bytes.Cut(place, []byte("\n"))
		}
	}
	return fmt.Sprintf("minido: internal error in %q: %v\n", name, x) +
		"This is a mistake of minido, not of your project. It has ended as SIGKILL would end it: what was acknowledged\n" +
		"is on disk, and a new start continues from there. Please report it with these lines:\n" +
		version.Current().String() + "\n" + string(stack)
}
