package bundle

import (
	"fmt"
	"path/filepath"

	"minido.dev/minido/runtime/wasm"
)

// smallWasm are the bytes of a module that is compiled while the worker is built,
// so that an error in it is one of its import; larger ones are compiled in the
// background, and what is wrong with their code is known when they are used.
const smallWasm = 32 << 10

// wasm is the unit of a WebAssembly file. One that cannot be read is refused where
// it is imported.
func (b *Bundler) wasm(src source, name string, last *unit) *unit {
	if last != nil && last.text == src.text && last.low != nil && last.low.format == formatWasm {
		return last
	}
	b.opts.keepWasm()
	u := &unit{path: src.path, name: name, text: src.text, low: &lowered{format: formatWasm, key: b.opts.hash(src)}}
	code, err := u.wasmCode()
	if err == nil && len(src.text) <= smallWasm {
		err = code.Compile()
	}
	if err != nil {
		u = &unit{path: src.path, name: name, refuse: &Message{
			Text: fmt.Sprintf("%s is no WebAssembly module that can be loaded: %v", filepath.Base(src.path), err),
		}}
		if b.opts.Named != nil {
			u.refuse = &Message{Text: err.Error(), kind: wasmError}
		}
	}
	return b.keep(name, u)
}

// keepWasm has machine code kept where lowered code is.
func (o *Options) keepWasm() {
	if o.CacheDir != "" {
		wasm.KeepIn(filepath.Join(o.CacheDir, "wasm"))
	}
}

// wasmCode reads the module, once. It is safe for concurrent use.
func (u *unit) wasmCode() (*wasm.Code, error) {
	u.wasmOnce.Do(func() { u.wasm, u.wasmErr = wasm.Read([]byte(u.text)) })
	return u.wasm, u.wasmErr
}

// compileWasm compiles the module ahead of its use, where an error is met again.
func (u *unit) compileWasm() {
	if code, err := u.wasmCode(); err == nil {
		_ = code.Compile()
	}
}

// runWasm makes the module's default export.
func (in *instance) runWasm(r *record) error {
	code, err := r.wasmCode()
	if err != nil {
		return fmt.Errorf("bundle: %s: %w", r.name, err)
	}
	if in.host.Wasm == nil {
		return fmt.Errorf("bundle: %s: the host provides no WebAssembly", r.name)
	}
	in.use(r)
	in.exportDefault(r, in.host.Wasm(code))
	return nil
}
