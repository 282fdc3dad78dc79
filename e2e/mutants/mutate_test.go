package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Each mutant changes its file, has a name of its own, and those that are
// written by hand find their places in the code of today. All of a file are
// together another Go file, with a copy of a function for each.
func TestMutants(t *testing.T) {
	top := filepath.Join("..", "..")
	jobs, err := allJobs(top)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	files := map[string][]numbered{}
	for _, j := range jobs {
		if seen[j.name()] {
			t.Errorf("twice: %s", j.name())
		}
		seen[j.name()] = true
		files[j.File] = append(files[j.File], j.numbered)
	}
	for file, list := range files {
		src, err := os.ReadFile(filepath.Join(top, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			if string(src[m.from:m.to]) == m.with {
				t.Errorf("changes nothing: %s", m.name())
			}
		}
		s, err := schemaOf(file, src, list)
		if err != nil {
			t.Error(err)
			continue
		}
		checkCopies(t, file, s, list)
	}
	for i := range named {
		if jobs[i].Op != "named" {
			t.Errorf("mutant %d is %s", i, jobs[i].name())
		}
	}
	t.Logf("%d mutants", len(jobs))
}

// checkCopies parses a file with its mutants, and looks for the copies where it says
// that they are.
func checkCopies(t *testing.T, file string, s schema, mutants []numbered) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, s.text, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	found := map[int]bool{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		id, err := strconv.Atoi(strings.TrimPrefix(fn.Name.Name, "mutant"))
		if err != nil {
			id = 0 // no copy
		}
		first, last := fset.Position(fn.Pos()).Line, fset.Position(fn.End()).Line
		if s.at(first) != id || s.at(last) != id {
			t.Errorf("%s: lines %d to %d are of mutant %d and %d, not %d", file, first, last, s.at(first), s.at(last), id)
		}
		found[id] = true
	}
	for _, m := range mutants {
		if !found[m.id] {
			t.Errorf("without a copy: %s", m.name())
		}
	}
}

// A mutant in a condition of a switch is covered by who comes to the switch.
func TestCases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.go")
	if err := os.WriteFile(path, []byte("package sample\n\nfunc f(n int) int {\n\tswitch {\n\tcase n > 1:\n\t\treturn n\n\t}\n\treturn 0\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := mutate(filepath.Dir(path), "sample.go", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if inCase := m.line == 5; inCase != (m.start == place{4, 2}) {
			t.Errorf("%s is covered at %v", m.name(), m.start)
		}
	}
}

// An expression is covered where its statement begins, also behind a function.
func TestBehindFunctions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.go")
	if err := os.WriteFile(path, []byte("package sample\n\nfunc f(g func(func() int, int)) {\n\tg(func() int {\n\t\treturn 1\n\t}, 2)\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := mutate(filepath.Dir(path), "sample.go", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]place{"1": {5, 3}, "2": {4, 2}}
	for _, m := range list {
		if at, ok := want[m.Text]; ok && m.start != at {
			t.Errorf("%s is covered at %v, want %v", m.name(), m.start, at)
		}
		delete(want, m.Text)
	}
	if len(want) > 0 {
		t.Errorf("no mutants of %v", want)
	}
}

const schemaSample = `package sample

type Box[T any] struct{ n int }

func (Box[T]) Nameless(int, ...string) { println(1) }

func (b *Box[T]) Named(_ int, x, _ T, rest ...T) (n int, err error) {
	b.n = 1
	n = len(rest)
	return
}

func Free[K comparable, V any](m map[K]V, k K) bool {
	_, ok := m[k]
	return !ok
}
`

// Functions of every form hand their arguments on to their copies, and the lines of what
// the compiler refuses are those of the mutant.
func TestSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.go")
	if err := os.WriteFile(path, []byte(schemaSample), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := mutate(filepath.Dir(path), "sample.go", nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []numbered
	for i, m := range list {
		all = append(all, numbered{m, i + 1})
	}
	broken := numbered{all[0].mutant, 99}
	broken.with = "\nvar unused int\n"
	s, err := schemaOf("sample.go", []byte(schemaSample), append(all, broken))
	if err != nil {
		t.Fatal(err)
	}
	checkCopies(t, "sample.go", s, append(all, broken))
	fset := token.NewFileSet()
	var files []*ast.File
	for _, text := range []string{s.text, "package sample; var mutantActive int"} {
		f, err := parser.ParseFile(fset, "sample.go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	var complaints []string
	config := types.Config{Error: func(err error) { complaints = append(complaints, err.Error()) }}
	config.Check("sample", fset, files, nil) //nolint:errcheck // told to Error
	found := complaintsOf(strings.Join(complaints, "\n"), map[string]schema{"sample.go": s})
	if len(found) != 1 || !strings.Contains(found[99], "unused") {
		t.Errorf("%v\n%s\n%s", found, strings.Join(complaints, "\n"), s.text)
	}
	for _, call := range []string{
		"mutantArgument1.mutant1(mutantArgument2, mutantArgument3...)", "return b.mutant4(mutantArgument4, x, mutantArgument5, rest...)", "[K, V](m, k)",
	} {
		if !strings.Contains(s.text, call) {
			t.Errorf("no %s in\n%s", call, s.text)
		}
	}
}
