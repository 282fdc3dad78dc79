package scenario

import (
	"os"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/config"
)

// own are the frames of a stack that the user does not want to read: the harness's.
var own = lazyregexp.New(`minido:chaos|\(native\)`)

// place is where a frame of a stack lies: FILE:LINE:COLUMN(PC).
var place = lazyregexp.New(`([^\s()]+):(\d+):(\d+)\(`)

// counter is goja's number of an instruction, which says nothing to the user.
var counter = lazyregexp.New(`(:\d+:\d+)\(\d+\)`)

// explain is a value that was thrown, with the frames of its stack that are the
// user's, and the lines of source at the first of them.
func explain(v goja.Value) string {
	lines := strings.Split(stackOf(v), "\n")
	text, frame := lines[0], ""
	for _, line := range lines[1:] {
		if !strings.HasPrefix(strings.TrimSpace(line), "at ") { // of a message with several lines
			text += "\n" + line
			continue
		}
		if own.MatchString(line) {
			continue
		}
		text += "\n    " + counter.ReplaceAllString(strings.TrimSpace(line), "$1")
		if m := place.FindStringSubmatch(line); m != nil && frame == "" {
			frame = codeFrame(m[1], m[2], m[3])
		}
	}
	return strings.TrimRight(text+"\n"+frame, "\n")
}

// codeFrame is "" where the file cannot be read: the stack names it.
func codeFrame(file, line, column string) string {
	source, err := os.ReadFile(file)
	l, lineErr := strconv.Atoi(line)
	c, columnErr := strconv.Atoi(column)
	if err != nil || lineErr != nil || columnErr != nil {
		return ""
	}
	return config.CodeFrame(source, l, c)
}
