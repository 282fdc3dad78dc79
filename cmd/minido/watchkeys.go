package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// watchKeys makes of single keys on a terminal the lines that vitest.Watch understands. The
// letters are vitest's. One goroutine calls read; another may read the lines.
type watchKeys struct {
	out   io.Writer // the terminal
	lines chan string
	quit  func() // called on the goroutine of read
	rest  string // of a line that Read has begun

	asks  rune   // the key whose argument is being typed, 0 for none
	typed []rune // of it
}

// waitingKeys are lines that a run keeps waiting; more are dropped.
const waitingKeys = 16

func newWatchKeys(out io.Writer, quit func()) *watchKeys {
	return &watchKeys{out: out, quit: quit, lines: make(chan string, waitingKeys)}
}

// Read gives the lines, and io.EOF after read has ended.
func (w *watchKeys) Read(p []byte) (int, error) {
	if w.rest == "" {
		line, ok := <-w.lines
		if !ok {
			return 0, io.EOF
		}
		w.rest = line + "\n"
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// read reads keys until there are no more.
func (w *watchKeys) read(from keySource) {
	defer close(w.lines)
	buffer, partial := make([]byte, 64), ""
	for {
		n, err := from.next(buffer)
		if err != nil {
			return // interrupted, or the terminal is gone
		}
		text := partial + string(buffer[:n])
		partial = ""
		if text != "\x1b" { // what arrows and function keys send; Esc alone is a key
			text = sequences.ReplaceAllString(text, "")
		}
		for text != "" {
			if !utf8.FullRuneInString(text) {
				partial = text
				break
			}
			key, size := utf8.DecodeRuneInString(text)
			text = text[size:]
			if w.asks != 0 {
				w.typeIn(key)
			} else {
				w.press(key)
			}
		}
	}
}

const watchHelp = ` Watch usage
   a, Enter  run all tests
   r         run again what ran last
   f         run the files that failed
   u         update the snapshots that failed
   p         choose files by their path
   t         choose tests by their name
   q         quit
`

func (w *watchKeys) press(key rune) {
	switch key = unicode.ToLower(key); key {
	case '\r', '\n':
		w.send("a")
	case 'a', 'r', 'f', 'u':
		w.send(string(key))
	case 'p', 't':
		w.asks, w.typed = key, nil
		w.print("\n " + map[rune]string{'p': "Part of a path", 't': "Regular expression for names of tests"}[key] + " (nothing: all; Esc: back): ")
	case 'q':
		w.quit()
	case 'h', '?':
		w.print("\n" + watchHelp)
	}
}

// typeIn is a key of an argument.
func (w *watchKeys) typeIn(key rune) {
	switch {
	case key == '\r' || key == '\n':
		w.print("\n")
		w.send(strings.TrimSpace(string(w.asks) + " " + string(w.typed)))
		w.asks = 0
	case key == 0x1b:
		w.asks = 0
		w.print("\n")
	case key == 0x7f || key == '\b':
		if n := len(w.typed); n > 0 {
			w.typed = w.typed[:n-1]
			w.print("\b \b")
		}
	case unicode.IsPrint(key):
		w.typed = append(w.typed, key)
		w.print(string(key))
	}
}

func (w *watchKeys) send(line string) {
	select {
	case w.lines <- line:
	default: // enough of them wait already
	}
}

func (w *watchKeys) print(text string) {
	_, _ = fmt.Fprint(w.out, text) // the terminal may be gone
}
