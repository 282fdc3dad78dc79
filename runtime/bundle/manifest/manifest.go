// Package manifest reads package.json files: the package of a file, and its
// declarations.
package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"minido.dev/minido/runtime/bundle/glob"
)

// Info is what the package.json files above a directory say. Immutable.
type Info struct {
	File   string // the package's own package.json, "" at the file system's root
	Dir    string // its directory
	Name   string
	Module bool // "type": "module", by the nearest package.json
	// sideEffects: nil means that nothing is declared; an empty list that no
	// file has any.
	sideEffects *[]string
}

// Reader reads package.json files, once per directory. Safe for concurrent use.
type Reader struct {
	mu   sync.Mutex // guards dirs
	dirs map[string]*Info
}

// New makes a reader that has read nothing.
func New() *Reader { return &Reader{dirs: map[string]*Info{}} }

// Read are the package.json files that were found, in no order.
func (p *Reader) Read() (files []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, info := range p.dirs { // order-independent: the caller's are a set
		if info.File != "" {
			files = append(files, info.File)
		}
	}
	return files
}

// ForFile is the package that path belongs to.
func (p *Reader) ForFile(path string) *Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lookup(filepath.Dir(path))
}

func (p *Reader) lookup(dir string) *Info {
	if info, ok := p.dirs[dir]; ok {
		return info
	}
	parent := filepath.Dir(dir)
	info := p.read(dir, parent)
	if info == nil {
		if parent == dir || filepath.Base(dir) == "node_modules" {
			info = &Info{}
		} else {
			info = p.lookup(parent)
		}
	}
	p.dirs[dir] = info
	return info
}

// read parses dir's package.json. A nested one without a name (often just
// {"type": "module"}) refines the package above it.
func (p *Reader) read(dir, parent string) *Info {
	file := filepath.Join(dir, "package.json")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var raw struct {
		Name        string          `json:"name"`
		Type        string          `json:"type"`
		SideEffects json.RawMessage `json:"sideEffects"`
	}
	// A package.json that does not parse is reported by esbuild's resolver.
	if json.Unmarshal(text, &raw) != nil {
		return nil
	}
	info := &Info{File: file, Dir: dir, Name: raw.Name, Module: raw.Type == "module"}
	info.sideEffects = parseSideEffects(raw.SideEffects)
	isRoot := filepath.Base(parent) == "node_modules" ||
		strings.HasPrefix(filepath.Base(parent), "@") && filepath.Base(filepath.Dir(parent)) == "node_modules"
	if raw.Name == "" && !isRoot && parent != dir {
		if above := p.lookup(parent); above.File != "" {
			info.Name, info.File, info.Dir = above.Name, above.File, above.Dir
			if info.sideEffects == nil {
				info.sideEffects = above.sideEffects
			}
		}
	}
	return info
}

func parseSideEffects(raw json.RawMessage) *[]string {
	if len(raw) == 0 {
		return nil
	}
	var flag bool
	if json.Unmarshal(raw, &flag) == nil {
		if flag {
			return nil
		}
		return &[]string{}
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return &list
	}
	return nil
}

// Pure reports whether the package declares that evaluating path has no side
// effects. A pattern without a slash matches in any directory.
func (i *Info) Pure(path string) bool {
	if i.sideEffects == nil {
		return false
	}
	rel, err := filepath.Rel(i.Dir, path)
	if err != nil {
		rel = path
	}
	rel = filepath.ToSlash(rel)
	return !slices.ContainsFunc(*i.sideEffects, func(g string) bool { return glob.Match(g, rel) })
}
