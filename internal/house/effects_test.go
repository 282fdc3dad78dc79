package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writes are the calls by which something becomes durable or visible, by the
// folder that makes them. Those of os count with their package's name.
var writes = map[string][]string{
	"internal/netx":         {"WriteMessage", "WriteMessages", "WriteClose"},
	"runtime/gateway":       {"WriteMessage", "WriteMessages", "WriteClose"},
	"durableobject":         {"Commit", "os.Rename", "os.Remove", "os.OpenFile", "os.Create", "os.WriteFile"},
	"durableobject/pool":    {"Commit", "os.Rename", "os.Remove", "os.OpenFile", "os.Create", "os.WriteFile"},
	"alarms":                {"os.Rename", "os.Remove", "os.OpenFile", "os.Create", "os.WriteFile"},
	"runtime/binding/r2":    {"os.Rename", "os.Remove", "os.OpenFile", "os.Create", "os.WriteFile"},
	"runtime/webapi/caches": {"os.Rename", "os.Remove", "os.OpenFile", "os.Create", "os.WriteFile"},
}

// withoutPoint are the writes that need no effect point of their own, by folder,
// function and call.
var withoutPoint = map[string]string{
	"internal/netx broken WriteClose":     "the peer broke the protocol; what it is told is no output of a worker",
	"internal/netx write WriteMessages":   "points are off there",
	"durableobject commit Commit":         "nothing is dirty there: it ends an empty transaction",
	"runtime/webapi/caches put os.Remove": "a temporary file that nobody knows",
}

// unmarked lists the writes of a file that no function given to an Effect, or to Carry, makes.
func unmarked(fset *token.FileSet, file *ast.File, names []string) []string {
	want := map[string]bool{}
	for _, n := range names {
		want[n] = true
	}
	var out []string
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		effects := map[ast.Node]bool{} // what is passed to an Effect
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name := called(call); strings.EqualFold(name, "effect") || name == "Carry" {
				for _, arg := range call.Args {
					effects[arg] = true
				}
				return true
			} else if want[name] {
				out = append(out, fn.Name.Name+" "+name)
			}
			return true
		})
		out = without(out, fn, effects, want)
	}
	return out
}

// without takes back the writes within effects: they were found once in the
// function, and are found again in what it hands to an Effect.
func without(out []string, fn *ast.FuncDecl, effects map[ast.Node]bool, want map[string]bool) []string {
	for e := range effects { // order-independent: each takes its own back
		ast.Inspect(e, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !want[called(call)] {
				return true
			}
			text := fn.Name.Name + " " + called(call)
			for i := len(out) - 1; i >= 0; i-- {
				if out[i] == text {
					out = append(out[:i], out[i+1:]...)
					break
				}
			}
			return true
		})
	}
	return out
}

// called is the name of what a call calls: the method's, with the package's before
// it for functions of os.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && x.Name == "os" {
			return "os." + f.Sel.Name
		}
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// Whatever becomes durable or visible does so between two effect points, or is
// listed with the reason why it need not; a write without one fails the build.
func TestWritesHaveEffectPoints(t *testing.T) {
	used := map[string]bool{}
	for dir, names := range writes { // order-independent: each folder by itself
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, text, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range unmarked(fset, file, names) {
				key := dir + " " + w
				used[key] = true
				if withoutPoint[key] == "" {
					t.Errorf("%s: %s is made without an effect point: give it to Points.Effect, or list it here", filepath.Base(path), key)
				}
			}
		}
	}
	for key := range withoutPoint { // order-independent: each by itself
		if !used[key] {
			t.Errorf("%s is listed, and is not there", key)
		}
	}
}

// The rule sees a planted write, and lets one pass that is an effect.
func TestWritesWithoutPointAreFound(t *testing.T) {
	const text = `package p
func good(p *Points, c *Conn) { p.Effect("frame", func() error { return c.WriteMessage(1) }) }
func bad(p *Points, c *Conn) { p.Effect("frame", func() error { return c.WriteMessage(1) }); c.WriteMessage(2) }
func file() { os.Remove("x") }`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(unmarked(fset, file, []string{"WriteMessage", "os.Remove"}), "; "); got != "bad WriteMessage; file os.Remove" {
		t.Errorf("found %q", got)
	}
}
