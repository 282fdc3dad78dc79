package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkTree fails if a node points outside of its file.
func checkTree(t *testing.T, n *node) {
	if n == nil {
		return
	}
	p := n.where()
	if lines := 1 + bytes.Count(n.src.text, []byte("\n")); p.Line < 1 || p.Line > lines || p.Column < 1 {
		t.Fatalf("%v is outside of the file", p)
	}
	for _, m := range append(append([]*node(nil), n.members...), n.items...) {
		checkTree(t, m)
	}
}

// decodeText runs a parsed tree through everything after parsing.
func decodeText(t *testing.T, rep *report, src *source, root *node) {
	if root == nil || root.kind != kindObject {
		return
	}
	for _, env := range []string{"", "prod"} {
		dir := t.TempDir()
		l := &loader{rep: rep, root: dir, options: Options{Vars: []string{"A:1"}}}
		sel := &selection{src: src, dir: dir, top: root, name: env}
		sel.env = checkFile(rep, root, env)
		if sel.env != nil && sel.env.kind != kindObject {
			continue
		}
		warnNotInherited(rep, sel)
		p := l.decode(sel)
		if !rep.failed() {
			if err := ValidateScriptName(p.Name); err != nil {
				t.Fatalf("accepted: %v", err)
			}
			for _, c := range p.Classes {
				if err := ValidateClassName(c.ClassName); err != nil {
					t.Fatalf("accepted: %v", err)
				}
			}
		}
	}
	for _, d := range rep.sorted() {
		if text := d.Render(true); strings.ContainsAny(strings.ReplaceAll(text, "\x1b[", ""), "\x1b\x00\x07\r") {
			t.Fatalf("control characters in %q", text)
		}
	}
}

// FuzzJSONC: what encoding/json accepts is understood the same way, and no
// input makes a later phase panic.
func FuzzJSONC(f *testing.F) {
	f.Add(`{"name": "a", "main": "w.js", "vars": {"A": [1, 2.5e3, null]}, "env": {"prod": {"vars": {}}}}`)
	f.Add("{\n// c\n\"durable_objects\": {\"bindings\": [{\"name\": \"A\", \"class_name\": \"B\"}]}, /* d */ \"exports\": {\"B\": {\"type\": \"durable-object\", \"storage\": \"sqlite\"}},}")
	f.Add(`{"migrations": [{"tag": "1", "renamed_classes": [{"from": "A", "to": "B"}]}], "assets": {"run_worker_first": ["!/"]}}`)
	f.Add("{\"a\": \"\x1b[31m\", \"a\": 1}")
	f.Fuzz(func(t *testing.T, text string) {
		rep := newReport()
		src := newSource("wrangler.jsonc", []byte(text))
		root := parseJSONC(src, rep)
		checkTree(t, root)
		var want any
		if utf8.ValidString(text) && json.Unmarshal([]byte(text), &want) == nil && root != nil {
			var got any
			if err := json.Unmarshal(root.json(), &got); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s became %s (%v)", text, root.json(), err)
			}
		}
		if root == nil && !rep.failed() {
			t.Fatal("refused without an error")
		}
		decodeText(t, rep, src, root)
	})
}

// FuzzTOML: no input makes a phase panic, and the tree is always valid JSON.
func FuzzTOML(f *testing.F) {
	f.Add("name = \"a\"\n[vars]\nA.b = [1, {c = 0x1F}]\n[[kv_namespaces]]\nbinding = \"K\"\n[env.prod]\n")
	f.Add("[a.b]\nc = 1979-05-27\n[[a.d]]\n[a.d.e]\nf = inf\n[[a.d]]\n")
	f.Add("x = \"\"\"\na\\\n b\"\"\"\n'q k' = '''z'''\n")
	f.Fuzz(func(t *testing.T, text string) {
		rep := newReport()
		src := newSource("wrangler.toml", []byte(text))
		root := parseTOML(src, rep)
		if root == nil {
			if !rep.failed() {
				t.Fatal("refused without an error")
			}
			return
		}
		checkTree(t, root)
		if !json.Valid(root.json()) {
			t.Fatalf("%q became %s", text, root.json())
		}
		decodeText(t, rep, src, root)
	})
}

// FuzzDotenv: keys are words, positions are in the file, and expansion ends.
func FuzzDotenv(f *testing.F) {
	f.Add("A=1\nexport B='x' # c\nC: \"a\\n${A:-${B}}\"\n")
	f.Add("A=\"open\r\nB=`x\ny`\r\nC=$A$B\\$C")
	f.Add("A=x$P\nP=${A+1}")
	f.Fuzz(func(t *testing.T, text string) {
		rep := newReport()
		entries := parseDotenv(rep, ".env", []byte(text))
		for _, e := range entries {
			if keyLength(e.key) != len(e.key) || e.key == "" || !utf8.ValidString(e.value) {
				t.Fatalf("%q: key %q, value %q", text, e.key, e.value)
			}
			if e.where.Line < 1 || e.where.Line > 1+strings.Count(text, "\n")+strings.Count(text, "\r") {
				t.Fatalf("%q: %v", text, e.where)
			}
		}
		expandDotenv(rep, entries, map[string]string{"P": "x${P}", "HOME": "/"})
	})
}

// FuzzCodeFrame: no place in no text makes it panic, and it lets no control
// character through.
func FuzzCodeFrame(f *testing.F) {
	f.Add("a\n\tb\r\nc\x1b[0m", 2, 3)
	f.Add("", 1, 1)
	f.Fuzz(func(t *testing.T, text string, line, column int) {
		frame := CodeFrame([]byte(text), line, column)
		if strings.ContainsAny(frame, "\x1b\x00\r\x07") || (frame != "" && !strings.HasSuffix(frame, "\n")) {
			t.Fatalf("%q", frame)
		}
	})
}
