package vitest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/server"
)

// settleTime is how long files must be quiet before a run: editors write in several
// steps.
const settleTime = 15 * time.Millisecond

// Keys says what lines Watch understands.
const Keys = "a: all, r: again, f: failed, t NAME: by name, p PATH: by path, u: update snapshots, q: quit; then Enter"

// Watch runs the suites, and runs them again: those that a changed file reaches, and
// what the lines of keys ask for (Keys). It returns when a line says q or ctx ends, which also
// ends a run. show
// gets each report, on the goroutine of Watch. What reads keys is started on s, and
// ends when keys do.
//
// # Errors
//
// Those of Run are shown to failed, and watching goes on.
func Watch(ctx context.Context, o Options, keys io.Reader, s sched.Scheduler, show func(*Report), failed func(error)) (err error) {
	fsn, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("vitest: watch: %w", err)
	}
	o.Cancelled = func() bool { return ctx.Err() != nil }
	o.bundles, o.counters = &server.Bundles{Live: true, Ahead: s}, &counters{}
	defer func() { err = errors.Join(err, fsn.Close(), o.bundles.Close()) }()
	if err := watchTree(fsn, o.Dir); err != nil {
		return err
	}
	lines := make(chan string)
	done := make(chan struct{})
	defer close(done)
	sched.Attend(s, "keys", func() {
		for in := bufio.NewScanner(keys); in.Scan(); {
			select {
			case lines <- in.Text():
			case <-done:
				return
			}
		}
	})
	w := &watching{options: o, show: show, failed: failed}
	w.run(nil)
	changed := map[string]bool{}
	quiet := make(chan struct{}, 1)
	for {
		select {
		case <-ctx.Done():
			return nil
		case line := <-lines:
			if !w.key(line) {
				return nil
			}
		case ev := <-fsn.Events:
			if ev.Op == fsnotify.Chmod {
				continue
			}
			if st, err := os.Stat(ev.Name); err == nil && st.IsDir() {
				if err := watchTree(fsn, ev.Name); err != nil {
					failed(err)
				}
				continue
			}
			if len(changed) == 0 {
				o.Clock.AfterFunc(settleTime, func() { quiet <- struct{}{} })
			}
			changed[ev.Name] = true
		case err := <-fsn.Errors:
			failed(fmt.Errorf("watching files: %w", err))
		case <-quiet:
			if reached := w.options.reached(changed); len(reached) > 0 {
				w.run(reached)
			}
			changed = map[string]bool{}
		}
	}
}

// watchTree watches a directory and those below it.
func watchTree(fsn *fsnotify.Watcher, dir string) error {
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone meanwhile
		}
		if err != nil || !d.IsDir() {
			return err
		}
		if file != dir && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		return fsn.Add(file)
	})
}

// watching is what Watch knows between runs.
type watching struct {
	options Options
	show    func(*Report)
	failed  func(error)
	broken  []string // files that failed in the last run, relative to the project
}

// run runs the files of a list, nil for all.
func (w *watching) run(only []string) {
	o := w.options
	o.only = only
	r, err := Run(o)
	switch {
	case errors.Is(err, ErrCancelled):
		return
	case err != nil:
		w.failed(err)
		return
	}
	w.broken = nil
	for _, f := range r.Files {
		if f.Failed() {
			w.broken = append(w.broken, f.Abs)
		}
	}
	w.show(r)
}

// key does what a line asks for; false ends.
func (w *watching) key(line string) bool {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch word {
	case "q":
		return false
	case "a", "":
		w.options.Name, w.options.Files = "", nil
		w.run(nil)
	case "r":
		w.run(nil)
	case "f":
		if len(w.broken) > 0 {
			w.run(w.broken)
		}
	case "t":
		w.options.Name = strings.TrimSpace(rest)
		w.run(nil)
	case "p":
		w.options.Files = strings.Fields(rest)
		w.run(nil)
	case "u":
		w.options.Update = true
		w.run(w.broken)
		w.options.Update = false
	default:
		w.failed(fmt.Errorf("%q is no key: %s", word, Keys))
	}
	return true
}

// reached lists the test files that a change of these files reaches: all, if the graph
// of imports cannot be had, or a configuration changed.
func (o *Options) reached(changed map[string]bool) (files []string) {
	with := *o
	o = &with
	o.nodes = findNode()
	defer func() {
		if err := o.nodes.end(); err != nil {
			files = []string{"?"}
		}
	}()
	each, err := o.settings()
	if err != nil {
		return []string{"?"} // the run tells what is wrong
	}
	for _, s := range each {
		p, err := o.load(s)
		if err != nil {
			return []string{"?"}
		}
		deps, ok := p.dependencies()
		whole := !ok || changed[s.file] || changed[p.worker.ConfigFile]
		for _, file := range p.files {
			if whole || slices.ContainsFunc(deps[file], func(dep string) bool { return changed[dep] }) {
				files = append(files, file)
			}
		}
	}
	return files
}
