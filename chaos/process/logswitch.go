package process

import (
	"io"
	"sync"
)

// LogSwitch is where a child's output goes: into the log of the case it serves,
// once it serves one. Safe for concurrent use.
type LogSwitch struct {
	mu  sync.Mutex
	out io.Writer
}

// NewLogSwitch makes one that goes to out.
func NewLogSwitch(out io.Writer) *LogSwitch { return &LogSwitch{out: out} }

// Write implements io.Writer.
func (l *LogSwitch) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

// To has what follows go to w.
func (l *LogSwitch) To(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = w
}
