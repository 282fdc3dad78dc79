package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/compat"
)

// TestSchemaKnowsEveryBinding shows that each kind says of its own section what
// the reader needs: its entries have the member that names them, and every type
// and format of its schema is one that the checker knows.
func TestSchemaKnowsEveryBinding(t *testing.T) {
	var check func(path string, s *binding.Schema)
	check = func(path string, s *binding.Schema) {
		for _, name := range s.Type {
			if typeNames[name] == 0 {
				t.Errorf("%s: unknown type %q", path, name)
			}
		}
		if s.Format != "" && formats[s.Format] == nil {
			t.Errorf("%s: unknown format %q", path, s.Format)
		}
		for _, name := range s.Required {
			if s.Properties[name] == nil {
				t.Errorf("%s: %q is required and not described", path, name)
			}
		}
		for name, p := range s.Properties {
			check(path+"."+name, p)
		}
		if s.Items != nil {
			check(path+"[]", s.Items)
		}
	}
	for _, k := range binding.Kinds() {
		check(k.Key, k.Schema)
		if k.Bindings == nil || k.Bindings.Name == "" {
			continue
		}
		at := wranglerFile().file.fields[k.Key].schema
		if k.Bindings.At != "" {
			at = at.fields[k.Bindings.At].schema
		}
		if at.elem != nil {
			at = at.elem
		}
		if !at.fields[k.Bindings.Name].required && k.Scope != binding.ScopeInherited {
			t.Errorf("%s: the schema of %s does not require %q", k.ID, k.Key, k.Bindings.Name)
		}
	}
}

// TestBindingParams shows what a binding carries to the server.
func TestBindingParams(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "wrangler.json"), []byte(`{"main": "w.js",
		"services": [{"binding": "S", "service": "api", "entrypoint": "Admin", "props": {"a": [1, null, true]}}],
		"text_blobs": {"T": "t/x.txt"}}`))
	writeFile(t, filepath.Join(dir, "w.js"), nil)
	p, _, err := Load(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	service, blob := p.Bindings[0], p.Bindings[1]
	if service.Param("service") != "api" || service.Param("entrypoint") != "Admin" || service.Param("props") != "" {
		t.Errorf("service: %+v", service.Params)
	}
	if want := map[string]any{"a": []any{1.0, nil, true}}; !reflect.DeepEqual(service.Params["props"], want) {
		t.Errorf("props: %#v", service.Params["props"])
	}
	if want := filepath.Join(dir, "t", "x.txt"); blob.Param("path") != want {
		t.Errorf("text blob: %q, want %q", blob.Param("path"), want)
	}
}

// TestValidateNames has the names that must not become path segments.
func TestValidateNames(t *testing.T) {
	for _, tc := range []struct {
		validate func(string) error
		good     []string
		bad      []string
	}{
		{ValidateScriptName,
			[]string{"a", "my-app_2", "_x", "0", strings.Repeat("a", 255)},
			[]string{"", "A", "-a", "a.b", "a/b", `a\b`, "..", "ä", "a b", "a\x00", strings.Repeat("a", 256)}},
		{ValidateClassName,
			[]string{"Room", "_x", "$", "Größe", "R2", "a\u0301"},
			[]string{"", "2R", "a-b", "a.b", "a/b", "../x", "a b", "a\x00", "a\xff", strings.Repeat("a", 256)}},
		{ValidateEnvironmentName,
			[]string{"prod", "Prod-2", "a.b"},
			[]string{"", ".", "..", ".x", "a/b", `a\b`, "a b", strings.Repeat("a", 64)}},
	} {
		for _, name := range tc.good {
			if err := tc.validate(name); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
		for _, name := range tc.bad {
			if err := tc.validate(name); !errors.Is(err, ErrInvalidName) {
				t.Errorf("%q: %v, want ErrInvalidName", name, err)
			}
		}
	}
	if UniqueKey("my-app", "Room") != "my-app-Room" {
		t.Error("the unique key is not miniflare's")
	}
}

// TestUniqueKeyFitsPathSegment shows that two long names that are fine alone
// are refused together.
func TestUniqueKeyFitsPathSegment(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "w.js"), nil)
	writeFile(t, filepath.Join(dir, "wrangler.json"), []byte(`{"main": "w.js", "name": "`+strings.Repeat("a", 200)+
		`", "durable_objects": {"bindings": [{"name": "R", "class_name": "`+strings.Repeat("B", 100)+`"}]}}`))
	var ce *ConfigError
	if _, _, err := Load(Options{Dir: dir}); !errors.As(err, &ce) || !strings.Contains(err.Error(), "cannot name a directory") {
		t.Errorf("err = %v", err)
	}
}

// TestNearest shows which names count as near.
func TestNearest(t *testing.T) {
	candidates := []string{"compatibility_date", "compatibility_flags", "main", "name", "vars", "kv_namespaces", "dev"}
	for name, want := range map[string]string{
		"compatibilityDate": "compatibility_date", "compatibility-flag": "compatibility_flags", "mian": "main",
		"nmae": "name", "kv_namespace": "kv_namespaces", "variables": "", "x": "", "": "", "devs": "dev",
	} {
		if got := nearest(name, candidates); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestVarText tells strings from other JSON.
func TestVarText(t *testing.T) {
	if s, ok := (Var{Value: json.RawMessage(`"a\n"`)}).Text(); !ok || s != "a\n" {
		t.Errorf("%q %v", s, ok)
	}
	for _, other := range []string{`1`, `null`, `{"a":1}`, ``} {
		if s, ok := (Var{Value: json.RawMessage(other)}).Text(); ok {
			t.Errorf("%s is not a string, got %q", other, s)
		}
	}
	long := Var{Value: json.RawMessage(`"` + strings.Repeat("x", 100) + `"`)}
	if got := long.Display(); len(got) != 60 {
		t.Errorf("%d characters: %s", len(got), got)
	}
}

// TestSecretsStayHidden shows that no diagnostic quotes a variable file.
func TestSecretsStayHidden(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "w.js"), nil)
	writeFile(t, filepath.Join(dir, "wrangler.json"), []byte(`{"main": "w.js", "compatibility_date": "2026-08-04", "ai": {"binding": "AI"}}`))
	writeFile(t, filepath.Join(dir, ".dev.vars"), []byte("hunter2 is my password\nAI=hunter2\nX='hunter2\n"))
	_, warnings, err := Load(Options{Dir: dir, Vars: []string{"hunter2"}})
	var ce *ConfigError
	if !errors.As(err, &ce) || len(warnings) != 3 {
		t.Fatalf("%v, %v", warnings, err)
	}
	for _, d := range ce.Diagnostics {
		if text := d.Render(true); strings.Contains(text, "hunter2") {
			t.Errorf("shown: %s", text)
		}
	}
}

// TestFilesThatCannotBeRead are named, with the reason.
func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "w.js"), nil)
	writeFile(t, filepath.Join(dir, "big.json"), make([]byte, maxFileBytes+1))
	writeFile(t, filepath.Join(dir, "ok.json"), []byte(`{"main": "w.js"}`))
	if err := os.Mkdir(filepath.Join(dir, ".dev.vars"), 0o700); err != nil {
		t.Fatal(err)
	}
	for config, want := range map[string]string{
		"big.json": "big.json: error: cannot read the file: it has 1048577 bytes; at most 1048576 are read",
		"ok.json":  ".dev.vars: error: cannot read the file: it is not a regular file",
	} {
		_, _, err := Load(Options{Dir: dir, ConfigPath: config})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", config, err, want)
		}
	}
}

// TestDeepNestingIsRefused shows that the recursive parser is never given a
// file that could exhaust the stack.
func TestDeepNestingIsRefused(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, 150)
	for name, text := range map[string]string{
		"plain":   deep,
		"comment": "/* \" */ " + deep,
		"line":    "// \"\n" + deep,
		"string":  `{"x":"\"[{","y":` + deep,
	} {
		rep := newReport()
		if n := parseJSONC(newSource("f", []byte(text)), rep); n != nil || !strings.Contains(rep.diagnostics[0].Message, "deeper than") {
			t.Errorf("%s: %v", name, rep.diagnostics)
		}
	}
	rep := newReport()
	flat := `{"x": "` + strings.Repeat("[", 300) + `", /* ` + strings.Repeat("{", 300) + ` */ "y": 1}`
	if n := parseJSONC(newSource("f", []byte(flat)), rep); n.get("y").number(0) != 1 {
		t.Errorf("brackets in strings and comments counted: %v", rep.diagnostics)
	}
}

// TestLoadManyAtOnce loads projects side by side: the package has no state.
func TestLoadManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "w.js"), nil)
	for _, name := range []string{"a", "b"} {
		writeFile(t, filepath.Join(dir, name+".json"), []byte(`{"main": "w.js", "name": "`+name+`", "compatibility_date": "2026-08-04", "unknown": 1}`))
	}
	var wg sync.WaitGroup
	for i := range 16 {
		name := []string{"a", "b"}[i%2]
		wg.Add(1)
		go func() {
			defer wg.Done()
			p, warnings, err := Load(Options{Dir: dir, ConfigPath: name + ".json"})
			if err != nil || p.Name != name || len(warnings) != 1 || !p.Compat(compat.NodejsCompat) {
				t.Errorf("%s: %+v %v %v", name, p, warnings, err)
			}
		}()
	}
	wg.Wait()
}
