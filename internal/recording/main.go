// Command recording runs a program and writes its timed output as an animated SVG: go
// run ./internal/recording -out docs/demo.svg bin/minido demo. The times are those of
// the run; the picture needs no script and no network.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"minido.dev/minido/internal/clock"
)

func main() {
	out := flag.String("out", "", "the SVG file to write")
	title := flag.String("title", "", "the command as it is shown; default: the command")
	columns := flag.Int("columns", 110, "longer lines are cut")
	flag.Parse()
	if *out == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *title == "" {
		*title = strings.Join(flag.Args(), " ")
	}
	lines, err := record(clock.Real{}, flag.Args())
	if err == nil {
		err = os.WriteFile(*out, []byte(draw(*title, *columns, lines)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

// line is one that was printed, and how long after the start.
type line struct {
	at   time.Duration
	text string
}

// record runs a command to its end. A command that fails is an error.
func record(c clock.Clock, command []string) (lines []line, err error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := c.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	scanner := bufio.NewScanner(output)
	for scanner.Scan() {
		lines = append(lines, line{c.Now().Sub(began), scanner.Text()})
	}
	return lines, errors.Join(scanner.Err(), cmd.Wait())
}

// Sizes in pixels; hold is how long the end is shown before it begins again.
const (
	charWidth  = 7.8
	lineHeight = 19
	margin     = 14
	hold       = 6 * time.Second
)

// draw makes the picture. Each line appears at its time, and all begin again after the
// last and a rest. Where animations are switched off everything is shown.
func draw(title string, columns int, lines []line) string {
	lines = append([]line{{0, "$ " + title}, {0, ""}}, lines...)
	total := lines[len(lines)-1].at + hold
	width, height := int(float64(columns)*charWidth)+2*margin, len(lines)*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%s">`+"\n", width, height, html.EscapeString(title))
	b.WriteString("<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d6deeb;white-space:pre}.pass{fill:#7fdb8a}.kill{fill:#ff7a7a}\n")
	for i, l := range lines {
		if l.at > 0 {
			at := 100 * l.at.Seconds() / total.Seconds()
			fmt.Fprintf(&b, "@keyframes l%d{0%%,%.2f%%{opacity:0}%.2f%%,100%%{opacity:1}}.l%d{animation:l%d %.1fs linear infinite}\n", i, at, at+0.01, i, i, total.Seconds())
		}
	}
	b.WriteString("@media (prefers-reduced-motion:reduce){text{animation:none!important}}</style>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#011627"/>`+"\n", width, height)
	for i, l := range lines {
		if l.text == "" {
			continue
		}
		class := fmt.Sprintf("l%d", i)
		switch {
		case strings.HasPrefix(l.text, "PASS"):
			class += " pass"
		case strings.Contains(l.text, "SIGKILL  "):
			class += " kill"
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="%s">%s</text>`+"\n", margin, margin+lineHeight*i+lineHeight*3/4, class, html.EscapeString(cut(l.text, columns)))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// cut shortens a line to so many characters.
func cut(text string, columns int) string {
	if utf8.RuneCountInString(text) <= columns {
		return text
	}
	return string([]rune(text)[:columns-1]) + "…"
}
