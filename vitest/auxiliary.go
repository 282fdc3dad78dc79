package vitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"minido.dev/minido/runtime/config"
)

// auxiliary is a worker beside the one that is tested (miniflare.workers), which it
// reaches by service bindings and by the script_name of Durable Objects.
type auxiliary struct {
	Name string
	// Files are its modules, the main one first; one without a text lies on the disk.
	Files []struct {
		Path string
		Text *string
	}
	// Root is what the paths are relative to; "" is the configuration's directory.
	Root     string
	Bindings map[string]string
	Add      json.RawMessage
	Date     string
	Flags    []string
}

// auxiliaries are the worlds' other workers. Modules that the configuration gives as
// texts are written below the cache directory.
func (o *Options) auxiliaries(s *settings) (all []config.Options, err error) {
	for _, w := range s.Others {
		if len(w.Files) == 0 || w.Name == "" {
			return nil, &UsageError{fmt.Sprintf("the configuration %s: miniflare.workers: each worker needs a name, and a script, a scriptPath or modules", s.file)}
		}
		root := s.dir(o)
		if w.Root != "" {
			if root = w.Root; !filepath.IsAbs(root) {
				root = filepath.Join(s.dir(o), root)
			}
		}
		written := filepath.Join(o.CacheDir, "workers", w.Name)
		if err := os.RemoveAll(written); err != nil {
			return nil, fmt.Errorf("vitest: %w", err)
		}
		main := ""
		for _, f := range w.Files {
			at := filepath.FromSlash(f.Path)
			switch {
			case f.Text != nil:
				if at = filepath.Join(written, filepath.Join(string(filepath.Separator), at)); at == written {
					return nil, &UsageError{fmt.Sprintf("the configuration %s: miniflare.workers: %s: a module has no path", s.file, w.Name)}
				}
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					return nil, fmt.Errorf("vitest: %w", err)
				}
				if err := os.WriteFile(at, []byte(*f.Text), 0o600); err != nil {
					return nil, fmt.Errorf("vitest: %w", err)
				}
			case !filepath.IsAbs(at):
				at = filepath.Join(root, at)
			}
			if main == "" {
				main = at
			}
		}
		if _, err := os.Stat(main); err != nil {
			return nil, &UsageError{fmt.Sprintf("the configuration %s: miniflare.workers: %s: there is no %s (is it built by a step before the tests?)", s.file, w.Name, main)}
		}
		c := config.Options{Dir: root, Entry: main, NoFile: true, Environ: o.Environ, CompatibilityDate: w.Date, CompatibilityFlags: w.Flags, Add: w.Add, AddFrom: filepath.Base(s.file)}
		for _, name := range slices.Sorted(maps.Keys(w.Bindings)) {
			c.Vars = append(c.Vars, name+":"+w.Bindings[name])
		}
		all = append(all, c)
	}
	return all, nil
}
