package bundle

import (
	"encoding/json"
	"minido.dev/minido/runtime/bundle/glob"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// pkgInfo is what the package.json files above a directory say. Immutable.
type pkgInfo struct {
	file   string // the package's own package.json, "" at the file system's root
	dir    string // its directory
	name   string
	module bool // "type": "module", by the nearest package.json
	// sideEffects: nil means that nothing is declared; an empty list that no
	// file has any.
	sideEffects *[]string
}

// packages reads package.json files, once per directory and build. Guarded by
// mu.
type packages struct {
	mu   sync.Mutex
	dirs map[string]*pkgInfo
}

func newPackages() *packages { return &packages{dirs: map[string]*pkgInfo{}} }

// forFile is the package that path belongs to.
func (p *packages) forFile(path string) *pkgInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lookup(filepath.Dir(path))
}

func (p *packages) lookup(dir string) *pkgInfo {
	if info, ok := p.dirs[dir]; ok {
		return info
	}
	parent := filepath.Dir(dir)
	info := p.read(dir, parent)
	if info == nil {
		if parent == dir || filepath.Base(dir) == "node_modules" {
			info = &pkgInfo{}
		} else {
			info = p.lookup(parent)
		}
	}
	p.dirs[dir] = info
	return info
}

// read parses dir's package.json. A nested one without a name (often just
// {"type": "module"}) refines the package above it.
func (p *packages) read(dir, parent string) *pkgInfo {
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
	info := &pkgInfo{file: file, dir: dir, name: raw.Name, module: raw.Type == "module"}
	info.sideEffects = parseSideEffects(raw.SideEffects)
	isRoot := filepath.Base(parent) == "node_modules" ||
		strings.HasPrefix(filepath.Base(parent), "@") && filepath.Base(filepath.Dir(parent)) == "node_modules"
	if raw.Name == "" && !isRoot && parent != dir {
		if above := p.lookup(parent); above.file != "" {
			info.name, info.file, info.dir = above.name, above.file, above.dir
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

// pure reports whether the package declares that evaluating path has no side
// effects. A pattern without a slash matches in any directory.
func (i *pkgInfo) pure(path string) bool {
	if i.sideEffects == nil {
		return false
	}
	rel := relSlash(i.dir, path)
	return !slices.ContainsFunc(*i.sideEffects, func(g string) bool { return glob.Match(g, rel) })
}

// deferrable reports whether the module at path may wait until it is first
// used.
func (o *Options) deferrable(path string, pkgs *packages, project *pkgInfo) bool {
	if o.NoDefer {
		return false
	}
	info := pkgs.forFile(path)
	if info.file == "" || info.file == project.file {
		return false // the project's own modules keep their order
	}
	return o.mayDefer(info.name, info.pure(path))
}

// mayDefer combines what a package declares with the lists.
func (o *Options) mayDefer(name string, declared bool) bool {
	verdict := declared || matchPackage(curatedDefer, name)
	for _, d := range o.Defer {
		if pattern, out := strings.CutPrefix(d, "!"); matchPackage([]string{pattern}, name) {
			verdict = !out
		}
	}
	return verdict
}

func matchPackage(list []string, name string) bool {
	return name != "" && slices.ContainsFunc(list, func(p string) bool { return p == name || glob.Match(p, name) })
}
