package bundle

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/runtime/bundle/glob"
	"minido.dev/minido/runtime/bundle/manifest"
	"minido.dev/minido/runtime/bundle/tsconfig"
)

// keepSource bounds the project files whose text stays in memory for code
// frames and source maps; larger ones are read again when asked for.
const keepSource = 256 << 10

// loaders are wrangler's: JSX is allowed in plain JavaScript.
var loaders = map[string]api.Loader{
	".js": api.LoaderJSX, ".mjs": api.LoaderJSX, ".cjs": api.LoaderJSX, ".jsx": api.LoaderJSX,
	".ts": api.LoaderTS, ".mts": api.LoaderTS, ".cts": api.LoaderTS, ".tsx": api.LoaderTSX,
	".json": api.LoaderJSON,
}

// load returns the unit of a file: the one of the last build if the file is
// unchanged, else a new one, whose lowered code may come from the disk cache.
// A nil unit comes with the errors that say why.
func (b *Bundler) load(s *scan, a api.OnLoadArgs, name string) (*unit, []Message) {
	src := source{path: a.Path, tsconfig: "{}", loader: api.LoaderTS}
	if a.Namespace == virtualNamespace {
		src.text = b.opts.Virtual[a.Path]
		return b.lowered(src, name)
	}
	u := b.lastUnit(name)
	now := stamp{}
	if inNodeModules(a.Path) {
		if st, err := os.Stat(a.Path); err == nil {
			now = stamp{st.ModTime().UnixNano(), st.Size()}
		}
		b.mu.Lock()
		same := u != nil && now != (stamp{}) && b.stamps[name] == now
		b.stamps[name] = now
		b.mu.Unlock()
		if same {
			return u, nil
		}
	}
	kind, format := b.classify(a.Path + a.Suffix)
	if format == api.LoaderNone && kind == "" {
		return b.keep(name, &unit{path: a.Path, name: name, refuse: refusal(a.Path)}), nil
	}
	text, err := os.ReadFile(a.Path)
	if err != nil {
		return nil, []Message{{File: name, Text: fmt.Sprintf("Could not read the file: %v", err)}}
	}
	src.text, src.loader = string(text), format
	switch kind {
	case CompiledWasm:
		return b.wasm(src, name, u), nil
	case Text, Data:
		f := formatText
		if kind == Data {
			f = formatData
		}
		if u != nil && u.text == src.text && u.low != nil && u.low.format == f {
			return u, nil
		}
		return b.keep(name, &unit{path: a.Path, name: name, text: src.text, low: &lowered{format: f, key: b.opts.hash(src)}}), nil
	}
	if b.opts.Mocks && !inNodeModules(a.Path) {
		if src.text, src.globs, err = glob.Expand(a.Path, src.text, cmp.Or(b.opts.Root, b.opts.Dir), b.opts.Alias); err != nil {
			return nil, []Message{{File: name, Text: err.Error()}}
		}
	}
	src.tsconfig = tsconfigOf(s.ts, a.Path)
	src.split, src.entry = b.splitOf(src), src.path == b.opts.Entry
	return b.lowered(src, name)
}

// classify chooses how a file is loaded: by the rules, else by extension.
func (b *Bundler) classify(path string) (ModuleType, api.Loader) {
	if b.opts.Mocks && strings.HasSuffix(path, "?raw") { // vite's query for the text of a file
		return Text, api.LoaderText
	}
	loader, ok := loaders[filepath.Ext(path)]
	if !ok {
		loader = api.LoaderNone
	}
	kind, ruled := b.opts.moduleType(path)
	if !ruled {
		return "", loader
	}
	switch kind {
	case ESModule, CommonJS:
		if !ok || loader == api.LoaderJSON {
			loader = api.LoaderJSX
		}
		if b.opts.Named != nil {
			loader = api.LoaderJS
		}
	case JSON:
		loader = api.LoaderJSON
	}
	return kind, loader
}

func refusal(path string) *Message {
	ext := filepath.Ext(path)
	if ext == "" {
		ext = filepath.Base(path)
	}
	return &Message{
		Text: fmt.Sprintf("No loader is configured for %q files: %s", ext, filepath.Base(path)),
		Hint: fmt.Sprintf(`add a rule, such as { "type": "Text", "globs": ["**/*%s"], "fallthrough": true } ("Data" for bytes)`, ext),
	}
}

func (b *Bundler) lastUnit(name string) *unit {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.units[name]
}

func (b *Bundler) keep(name string, u *unit) *unit {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.units[name] = u
	return u
}

// lowered finds or makes the unit of JavaScript, TypeScript or JSON text.
func (b *Bundler) lowered(src source, name string) (*unit, []Message) {
	key := b.opts.hash(src)
	if u := b.lastUnit(name); u != nil && u.low != nil && u.low.key == key && u.low.globs == nil {
		return u, nil
	}
	u := &unit{path: src.path, name: strings.TrimPrefix(name, virtualNamespace+":"), kept: b.store.programs}
	u.counted = src.loader != api.LoaderJSON && b.opts.Counting.wants(src.path)
	if !inNodeModules(src.path) && len(src.text) <= keepSource || src.loader == api.LoaderJSON {
		u.text = src.text
	}
	var msgs []Message
	if u.low = b.store.get(key); u.low == nil {
		if u.low, msgs = b.opts.lower(src, name); u.low == nil {
			return nil, msgs
		}
	}
	if src.globs != nil {
		with := *u.low
		with.globs = append(slices.Clone(with.globs), src.globs...)
		u.low = &with
	}
	u.divide()
	b.compileEarly(u)
	return b.keep(name, u), msgs
}

// splitOf lists what is to be taken out of a file: nothing, unless it is a
// prebuilt bundle.
func (b *Bundler) splitOf(src source) []string {
	if src.path != b.opts.Entry || len(src.text) < splitMin {
		return nil
	}
	return b.opts.deferredRegions(src.path, src.text, manifest.New())
}

// tsconfigOf is the TsconfigRaw text of a file: `{}` for installed packages, as esbuild
// ignores what they ship.
func tsconfigOf(files *tsconfig.Files, path string) string {
	if inNodeModules(path) {
		return "{}"
	}
	return files.Of(path)
}
