// Package tsconfig finds and merges tsconfig files, for transforms of one file at a
// time.
package tsconfig

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

// options are the compiler options that change how a file is lowered; paths
// and baseUrl are the outer build's business.
var options = []string{
	"alwaysStrict", "experimentalDecorators", "emitDecoratorMetadata", "importsNotUsedAsValues",
	"jsx", "jsxFactory", "jsxFragmentFactory", "jsxImportSource", "preserveValueImports",
	"strict", "target", "useDefineForClassFields", "verbatimModuleSyntax",
}

// Files are the tsconfig files of a project, each read once. Safe for concurrent use.
type Files struct {
	forced string

	mu    sync.Mutex
	dirs  map[string]string // directory → raw config for esbuild
	files map[string]bool   // every file read, for the watcher
}

// New looks for files beside and above the sources, or takes the forced one for all of them.
func New(forced string) *Files {
	return &Files{forced: forced, dirs: map[string]string{}, files: map[string]bool{}}
}

// Of is the text that esbuild takes for a file (TsconfigRaw). For installed packages,
// whose own esbuild ignores, it is not to be asked.
func (t *Files) Of(path string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.forced != "" {
		if _, ok := t.dirs[""]; !ok {
			t.dirs[""] = t.raw(t.forced)
		}
		return t.dirs[""]
	}
	return t.lookup(filepath.Dir(path))
}

// Read lists every file that was read, for who watches them.
func (t *Files) Read() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.files))
}

func (t *Files) lookup(dir string) string {
	if raw, ok := t.dirs[dir]; ok {
		return raw
	}
	raw := "{}"
	file := filepath.Join(dir, "tsconfig.json")
	if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() {
		raw = t.raw(file)
	} else if parent := filepath.Dir(dir); parent != dir {
		raw = t.lookup(parent)
	}
	t.dirs[dir] = raw
	return raw
}

func (t *Files) raw(file string) string {
	merged := map[string]json.RawMessage{}
	t.merge(file, merged, 0)
	text, err := json.Marshal(map[string]any{"compilerOptions": merged})
	if err != nil {
		return "{}"
	}
	return string(text)
}

// merge applies file's `extends` and then its own options to out. Errors in
// the files are reported by the outer build, which reads them too.
func (t *Files) merge(file string, out map[string]json.RawMessage, depth int) {
	t.files[file] = true
	text, err := os.ReadFile(file)
	if err != nil || depth > 16 {
		return
	}
	if text, err = hujson.Standardize(text); err != nil {
		return
	}
	var raw struct {
		Extends         json.RawMessage            `json:"extends"`
		CompilerOptions map[string]json.RawMessage `json:"compilerOptions"`
	}
	if json.Unmarshal(text, &raw) != nil {
		return
	}
	for _, base := range extendsList(raw.Extends) {
		if path := findExtended(filepath.Dir(file), base); path != "" {
			t.merge(path, out, depth+1)
		}
	}
	for _, name := range options {
		if v, ok := raw.CompilerOptions[name]; ok {
			out[name] = v
		}
	}
}

func extendsList(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	var many []string
	if json.Unmarshal(raw, &many) == nil {
		return many
	}
	return nil
}

// findExtended resolves a tsconfig's `extends`: a path, or a file in a package.
func findExtended(dir, spec string) string {
	try := func(p string) string {
		for _, c := range []string{p, p + ".json", filepath.Join(p, "tsconfig.json")} {
			if st, err := os.Stat(c); err == nil && st.Mode().IsRegular() {
				return c
			}
		}
		return ""
	}
	if filepath.IsAbs(spec) {
		return try(spec)
	}
	if strings.HasPrefix(spec, ".") {
		return try(filepath.Join(dir, spec))
	}
	for {
		if p := try(filepath.Join(dir, "node_modules", filepath.FromSlash(spec))); p != "" {
			return p
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
