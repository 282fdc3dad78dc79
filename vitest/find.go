package vitest

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/runtime/bundle/glob"
)

func join(words []string, by string) string { return strings.Join(words, by) }

// find lists the test files of the project, absolute and sorted.
func (o *Options) find(c *settings) ([]string, error) {
	var all []string
	matches := func(globs []string, rel string) bool {
		return slices.ContainsFunc(globs, func(g string) bool { return glob.Match(g, rel) })
	}
	err := filepath.WalkDir(c.root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(c.root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == ".wrangler" || matches(c.Exclude, rel+"/")) {
				return filepath.SkipDir
			}
			return nil
		}
		if matches(c.Exclude, rel) || !o.wants(rel) {
			return nil
		}
		tests := matches(c.Include, rel)
		if !tests && matches(c.IncludeSource, rel) {
			if tests, err = hasOwnTests(file); err != nil {
				return err
			}
		}
		if tests {
			all = append(all, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find test files: %w", err)
	}
	slices.Sort(all)
	return o.shard(all, c.root), nil
}

// isSource says whether a test file is one for its own tests alone (test.includeSource).
func (p *project) isSource(file string) bool {
	rel, err := filepath.Rel(p.settings.root, file)
	return err == nil && !slices.ContainsFunc(p.settings.Include, func(g string) bool { return glob.Match(g, filepath.ToSlash(rel)) })
}

// hasOwnTests says whether a source file may have tests in it, as vitest does.
func hasOwnTests(file string) (bool, error) {
	text, err := os.ReadFile(file)
	return bytes.Contains(text, []byte("import.meta.vitest")), err
}

func (o *Options) wants(rel string) bool {
	return len(o.Files) == 0 || slices.ContainsFunc(o.Files, func(f string) bool {
		return strings.Contains(rel, strings.TrimPrefix(filepath.ToSlash(f), "./"))
	})
}

// shard takes this shard's files: in the order of the hashes of their paths, as
// vitest does, so that neighbours are spread.
func (o *Options) shard(files []string, root string) []string {
	if o.Shards == 0 {
		return files
	}
	hash := func(file string) string {
		rel, err := filepath.Rel(root, file)
		if err != nil {
			rel = file
		}
		sum := sha1.Sum([]byte(filepath.ToSlash(rel)))
		return hex.EncodeToString(sum[:])
	}
	order := slices.SortedFunc(slices.Values(files), func(a, b string) int { return strings.Compare(hash(a), hash(b)) })
	size, more := len(order)/o.Shards, len(order)%o.Shards
	start := (o.Shard-1)*size + min(o.Shard-1, more)
	end := start + size
	if o.Shard <= more {
		end++
	}
	mine := order[start:end]
	slices.Sort(mine)
	return mine
}
