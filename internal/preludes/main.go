// Command preludes compiles minido's own JavaScript ahead of time, for
// runtime/engine/prepared. "make build" runs it.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/engine/prepared"
)

func main() {
	files, err := compile(".")
	if err == nil {
		err = write(filepath.Join("runtime/engine/prepared", prepared.Dir), files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "preludes:", err)
		os.Exit(1)
	}
}

// others are the folders whose JavaScript is none that an engine loads as a prelude: it is
// bundled with workers, or a test's.
var others = []string{"runtime/bundle", "runtime/minidotest"}

// compile gives the content of each file by its name, for the preludes below root.
func compile(root string) (map[string]string, error) {
	files, of := map[string]string{}, map[string]string{}
	return files, filepath.WalkDir(filepath.Join(root, "runtime"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() && (slices.Contains(others, filepath.ToSlash(folder)) || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".js") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := prepared.Name(string(source))
		if files[name] != "" {
			return fmt.Errorf("%s and %s have the same check sum: change one of them", of[name], path)
		}
		data, err := engine.Prepare(string(source))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		files[name], of[name] = data, path
		return nil
	})
}

// write makes the files in dir, and removes those of other sources. Those that are as they
// should be keep their times.
func write(dir string, files map[string]string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if _, ok := files[entry.Name()]; !ok && strings.HasSuffix(entry.Name(), prepared.Ending) {
			if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	for name, data := range files { // order-independent: files of their own
		path := filepath.Join(dir, name)
		if now, err := os.ReadFile(path); err == nil && string(now) == data {
			continue
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			return err
		}
	}
	return nil
}
