package process

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// MaxOutput is how many bytes of a child's output are kept in memory.
const MaxOutput = 1 << 20

// tailLines is how much of the output an error message shows.
const tailLines = 30

// output receives what a child writes. It passes whole lines on and looks for
// the line that says that the server answers. It never fails a write: a full
// disk of ours must not look like a broken pipe to the child.
type output struct {
	mu   sync.Mutex // guards everything below
	log  io.Writer
	rest []byte // an unfinished line
	kept []byte // finished lines, at most MaxOutput bytes
	url  string
}

func newOutput(log io.Writer) *output { return &output{log: log} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = append(o.rest, p...)
	for {
		i := bytes.IndexByte(o.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		o.line(o.rest[:i+1])
		o.rest = o.rest[i+1:]
	}
}

func (o *output) line(line []byte) {
	if o.url == "" {
		if m := readyLine.FindSubmatch(line); m != nil {
			o.url = string(m[1])
		}
	}
	if o.log != nil {
		if _, err := o.log.Write(line); err != nil {
			o.log = nil // the copy in memory goes on
		}
	}
	o.kept = append(o.kept, line...)
	if over := len(o.kept) - MaxOutput; over > 0 {
		o.kept = append(o.kept[:0], o.kept[over:]...)
	}
}

// end finishes a last line that the child could not end itself.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.rest) > 0 {
		o.line(append(o.rest, '\n'))
		o.rest = nil
	}
}

func (o *output) ready() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.url
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.kept) + string(o.rest)
}

func (o *output) tail() string {
	lines := strings.Split(strings.TrimRight(o.text(), "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return strings.Join(lines, "\n")
}
