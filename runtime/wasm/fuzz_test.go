package wasm

import (
	"os"
	"path/filepath"
	"testing"
)

// Modules of the tests of package minidotest are where fuzzing begins.
func seeds(f *testing.F) {
	list, err := filepath.Glob("../minidotest/testdata/wasm/*.wasm")
	if err != nil || len(list) == 0 {
		f.Fatal(list, err)
	}
	for _, path := range list {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

// rewrite makes a module as it is given to wazero; it is not if it is refused.
func rewrite(data []byte) (out *rewritten, ok bool) {
	b, err := readBinary(data)
	if err != nil || b.ordered() != nil {
		return out, false
	}
	out, err = b.rewrite()
	return out, err == nil
}

// Whatever the bytes, reading and rewriting end, and do not panic; what is rewritten
// can be read again.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		out, ok := rewrite(data)
		if !ok {
			return
		}
		if _, err := readBinary(out.bytes); err != nil {
			t.Errorf("%x became %x: %v", data, out.bytes, err)
		}
	})
}

// A module that wazero takes as it is, it takes as it is rewritten (WebAssembly
// Core, section 3: validation).
func FuzzRewrite(f *testing.F) {
	seeds(f)
	e, err := theCompiler()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		out, ok := rewrite(data)
		if !ok {
			return
		}
		if m, err := e.compiled(data); err == nil {
			defer m.Close(t.Context())
			again, err := e.compiled(out.bytes)
			if err != nil {
				t.Fatalf("%x became %x: %v", data, out.bytes, err)
			}
			again.Close(t.Context())
		}
	})
}
