package node

import (
	"strings"

	"minido.dev/minido/runtime/engine"
)

// output is what was written to standard output or error and is no whole line yet.
// Loop-confined.
type output struct {
	line    strings.Builder
	flushes bool // a job will log it
}

// maxOutputLine bounds, in bytes, what is kept of a line that does not end.
const maxOutputLine = 64 << 10

// Write logs whole lines of what is written to standard output (1) or error (2), and the
// last, unfinished one when the code that writes is done. As in workerd each line says
// where it was written, and text need not be UTF-8.
func (m *Modules) Write(fd int, data []byte) {
	o := &m.outputs[fd]
	for text := DecodeUTF8(data); ; {
		line, rest, found := strings.Cut(text, "\n")
		o.line.WriteString(line)
		if !found {
			break
		}
		m.logOutput(fd)
		text = rest
	}
	switch {
	case o.line.Len() > maxOutputLine:
		m.logOutput(fd)
	case o.line.Len() > 0 && !o.flushes:
		o.flushes = true
		m.Engine.Promises.Microtask(func() {
			if o.flushes = false; o.line.Len() > 0 {
				m.logOutput(fd)
			}
		})
	}
}

func (m *Modules) logOutput(fd int) {
	o := &m.outputs[fd]
	m.Engine.Log(engine.Log, [...]string{1: "stdout: ", 2: "stderr: "}[fd]+o.line.String()) // no error, as in wrangler's log
	o.line.Reset()
}

// LogLine writes a line to the log on behalf of standard output (1) or error (2).
func (m *Modules) LogLine(fd int, text string) {
	level := engine.Log
	if fd == 2 {
		level = engine.Error
	}
	m.Engine.Log(level, text)
}
