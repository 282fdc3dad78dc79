package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/control"
	"minido.dev/minido/runtime/explorer"
	"minido.dev/minido/runtime/server"
)

// hotkey is one key of `minido dev` on a terminal. The letters are those of wrangler's
// session; where they differ, docs/compatibility.md says so.
type hotkey struct {
	keys  string // any of these characters
	label string
	press func() error
}

// hotkeys reads keys while `minido dev` runs.
type hotkeys struct {
	term *terminal
	list []hotkey
	// absent says what to use where wrangler has a key that minido does not.
	absent map[rune]string
}

// interactive reports whether a person sits at both ends: stdin and stdout are
// terminals, and nothing says that this is CI (as wrangler's isInteractive).
func interactive() bool {
	if ci := os.Getenv("CI"); ci != "" && ci != "0" && !strings.EqualFold(ci, "false") {
		return false
	}
	return isTerminal(os.Stdin) && isTerminal(os.Stdout)
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && hasKeys(f)
}

// listen offers the hotkeys until released is called, which gives the terminal its mode
// back. Browsers that were opened are waited for until ctx ends. api may be nil: there is no dashboard then.
func (c *devCommand) listen(ctx context.Context, exit func(), term *terminal, s *server.Server, api *control.Control, sch sched.Scheduler) (released func()) {
	if !c.ShowInteractiveDevSession || !interactive() {
		return func() {}
	}
	tty, err := openKeys(os.Stdin)
	if err != nil {
		term.print(term.err, term.warningMark()+"no hotkeys: "+err.Error())
		return func() {}
	}
	h := &hotkeys{term: term}
	open := func(url string) {
		sched.Attend(sch, "browser", func() { h.warn(browse(ctx, url)) })
	}
	h.list = []hotkey{
		{"b", "open a browser", func() error { open(s.URL()); return nil }},
		{"d", "open the dashboard", func() error {
			url, err := dashboardURL(api)
			if err == nil {
				term.line("Dashboard: %s", url)
				open(url)
			}
			return err
		}},
		{"c", "clear console", func() error { term.clear(); return nil }},
		{"l", "log level", func() error { term.line("Log level: %s", term.nextLevel()); return nil }},
		{"r", "rebuild", func() error { sch.Go("rebuild", s.Reload); return nil }},
		{"h?", "help", func() error { h.help(); return nil }},
		{"xq", "to exit", func() error { exit(); return nil }},
	}
	h.absent = map[rune]string{
		'e': "There are no pages of a local explorer: press d for the dashboard, which shows and edits the same. The explorer's API is at " + s.URL() + explorer.Path + "/api",
		't': "There are no tunnels: the network is not reached from here. To be reached from other machines, start with --ip 0.0.0.0 and --allowed-hosts.",
		'a': "There are no tunnels to share an address of. The address is " + s.URL(),
	}
	h.help()
	ended := make(chan struct{})
	sched.Attend(sch, "hotkeys", func() {
		defer close(ended)
		h.read(tty)
	})
	return func() {
		tty.interrupt()
		<-ended
		if err := tty.close(); err != nil {
			term.print(term.err, term.warningMark()+"the terminal's mode: "+err.Error())
		}
	}
}

// keySource gives what is typed, a few bytes at a time, and io.EOF when nothing will
// come any more.
type keySource interface {
	next(buffer []byte) (int, error)
}

// sequences are what arrows, function keys and Alt send (ECMA-48, 5.4).
var sequences = lazyregexp.New(`\x1b(\[[0-?]*[ -/]*[@-~]|O.|.)?`)

func (h *hotkeys) read(from keySource) {
	buffer := make([]byte, 64)
	for {
		n, err := from.next(buffer)
		if err != nil {
			return // interrupted, or the terminal is gone: who ends the server is told by a signal
		}
		for _, key := range strings.ToLower(sequences.ReplaceAllString(string(buffer[:n]), "")) {
			h.press(key)
		}
	}
}

func (h *hotkeys) press(key rune) {
	for _, k := range h.list {
		if !strings.ContainsRune(k.keys, key) {
			continue
		}
		h.warn(k.press())
	}
	if text := h.absent[key]; text != "" {
		h.term.line("[%c] %s", key, text)
	}
}

func (h *hotkeys) warn(err error) {
	if err != nil {
		h.term.print(h.term.err, h.term.warningMark()+err.Error())
	}
}

// help prints the keys as wrangler does: [b] open a browser [d] ...
func (h *hotkeys) help() {
	var parts []string
	for _, k := range h.list {
		parts = append(parts, fmt.Sprintf("[%s] %s", k.keys[:1], h.term.paint("2", k.label)))
	}
	h.term.line("%s", strings.Join(parts, " "))
}

func dashboardURL(api *control.Control) (string, error) {
	if api == nil {
		return "", errors.New("there is no dashboard: the control API does not run")
	}
	return api.OpenDashboard()
}
