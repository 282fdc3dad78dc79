package main

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"testing"
)

// typed gives texts as a terminal does, one in each read.
type typed []string

func (t *typed) next(buffer []byte) (int, error) {
	if len(*t) == 0 {
		return 0, io.EOF
	}
	n := copy(buffer, (*t)[0])
	*t = (*t)[1:]
	return n, nil
}

// Single keys become the lines that --watch understands; names of tests and parts of paths
// are typed with an echo, mended with Backspace and given up with Esc.
func TestWatchKeys(t *testing.T) {
	var screen strings.Builder
	quits := 0
	keys := newWatchKeys(&screen, func() { quits++ })
	keys.read(&typed{"a", "\r", "x\x1b[A\x1bOP", "F", "r", "u", "t", "ad", "x\x7fd\xc3", "\xa4\n", "p", "\x7froom\x1b[D\r", "t", "gone", "\x1b", "t\r", "h", "q"})
	var lines []string
	for in := bufio.NewScanner(keys); in.Scan(); {
		lines = append(lines, in.Text())
	}
	if want := []string{"a", "a", "f", "r", "u", "t addä", "p room", "t"}; !slices.Equal(lines, want) {
		t.Errorf("lines %q", lines)
	}
	if quits != 1 {
		t.Errorf("it was ended %d times", quits)
	}
	for _, want := range []string{"back): adx\b \bdä\n", "back): room\n", "back): gone\n", watchHelp} {
		if !strings.Contains(screen.String(), want) {
			t.Errorf("%q is missing on the screen:\n%s", want, screen.String())
		}
	}
	busy := newWatchKeys(io.Discard, nil)
	busy.read(&typed{strings.Repeat("a", 3*waitingKeys)}) // a run that lasts keeps no reader waiting
	if all, err := io.ReadAll(busy); err != nil || len(all) != 2*waitingKeys {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}
