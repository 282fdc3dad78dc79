package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strconv"
	"strings"
	"testing"
)

// finding is one line that breaks a rule.
type finding struct {
	rule string
	pos  token.Position
	text string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.pos.Filename, f.pos.Line, f.rule, f.text)
}

// rule is a lint over one package.
type rule struct {
	name  string
	check func(p *pkg) []finding
}

var rules = []rule{
	{"time", timeRule},
	{"chance", chanceRule},
	{"go", goRule},
	{"map-order", mapOrderRule},
	{"live-database", databaseRule},
	{"doc", docRule},
	{"start-up", startUpRule},
}

// allowances are the packages that a rule does not concern, each with its
// reason. One that no longer matters fails TestRules.
var allowances = map[string]map[string]string{
	"time": {
		"internal/clock": "the clock's home: the one package that asks the machine for the time",
	},
	"chance": {
		"internal/entropy": "the home of randomness: the one package that asks the machine for it",
	},
	"go": {
		"internal/sched": "where every loop and every background completion runs",
	},
}

// realTime are the functions that read the machine's clock or wait for it.
var realTime = map[string]map[string]bool{
	"time": {"Now": true, "Since": true, "Until": true, "After": true, "AfterFunc": true, "Sleep": true,
		"NewTimer": true, "NewTicker": true, "Tick": true},
	"context": {"WithTimeout": true, "WithDeadline": true, "WithTimeoutCause": true, "WithDeadlineCause": true},
}

// packageOf is the import path that x names in f, if it names a package.
func (p *pkg) packageOf(f *ast.File, x ast.Expr) string {
	id, ok := x.(*ast.Ident)
	if !ok {
		return ""
	}
	if p.info != nil {
		if obj := p.info.Uses[id]; obj != nil {
			if name, ok := obj.(*types.PkgName); ok {
				return name.Imported().Path()
			}
			return ""
		}
	}
	for _, spec := range f.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(importPath)
		if name == "v2" {
			name = path.Base(path.Dir(importPath))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == id.Name {
			return importPath
		}
	}
	return ""
}

func (p *pkg) at(rule string, pos token.Pos, format string, args ...any) finding {
	return finding{rule, p.fset.Position(pos), fmt.Sprintf(format, args...)}
}

// timeRule: only internal/clock asks the machine for the time. A test may, for
// its deadlines, but it never sleeps.
func timeRule(p *pkg) []finding {
	var out []finding
	visit := func(files []*ast.File, banned func(path, name string) bool) {
		for _, f := range files {
			for _, spec := range f.Imports {
				if spec.Name != nil && spec.Name.Name == "." && spec.Path.Value == `"time"` {
					out = append(out, p.at("time", spec.Pos(), `import of "time" into the file's own scope hides its uses`))
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if from := p.packageOf(f, sel.X); banned(from, sel.Sel.Name) {
						out = append(out, p.at("time", sel.Pos(), "%s.%s uses the machine's clock: take a clock.Clock", from, sel.Sel.Name))
					}
				}
				return true
			})
		}
	}
	visit(append(append([]*ast.File{}, p.Files...), p.Untyped...), func(path, name string) bool { return realTime[path][name] })
	visit(p.Tests, func(path, name string) bool { return path == "time" && name == "Sleep" })
	return out
}

// chanceRule: only internal/entropy asks the machine for randomness.
func chanceRule(p *pkg) []finding {
	var out []finding
	for _, f := range append(append([]*ast.File{}, p.Files...), p.Untyped...) {
		for _, spec := range f.Imports {
			switch importPath, _ := strconv.Unquote(spec.Path.Value); importPath {
			case "math/rand", "math/rand/v2", "crypto/rand", "hash/maphash":
				out = append(out, p.at("chance", spec.Pos(), "%s gives randomness that no seed controls: take an entropy.Source", importPath))
			}
		}
	}
	return out
}

// goRule: only internal/sched starts goroutines, by whatever name.
func goRule(p *pkg) []finding {
	var out []finding
	for _, f := range append(append([]*ast.File{}, p.Files...), p.Untyped...) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				out = append(out, p.at("go", n.Pos(), "a bare go statement: use internal/sched, or take a spawn function"))
			case *ast.SelectorExpr:
				if p.packageOf(f, n.X) == "context" && n.Sel.Name == "AfterFunc" {
					out = append(out, p.at("go", n.Pos(), "context.AfterFunc starts a goroutine"))
				} else if starter := p.goMethod(n); starter != "" {
					out = append(out, p.at("go", n.Pos(), "%s starts a goroutine", starter))
				}
			}
			return true
		})
	}
	return out
}

// goMethod names the method that sel selects, if it is one of the Go methods
// that start a goroutine.
func (p *pkg) goMethod(sel *ast.SelectorExpr) string {
	if p.info == nil {
		return ""
	}
	fn, ok := p.info.Uses[sel.Sel].(*types.Func)
	if !ok || (fn.FullName() != "(*sync.WaitGroup).Go" && fn.FullName() != "(*golang.org/x/sync/errgroup.Group).Go") {
		return ""
	}
	return fn.FullName()
}

// databaseRule: only SQLite opens a live database file. Closing any other
// handle on it would drop SQLite's POSIX locks (sqlite.org/howtocorrupt.html,
// section 2.2).
func databaseRule(p *pkg) []finding {
	var out []finding
	for _, f := range append(append([]*ast.File{}, p.Files...), p.Untyped...) {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || len(call.Args) == 0 || p.packageOf(f, sel.X) != "os" {
				return true
			}
			switch sel.Sel.Name {
			case "Open", "OpenFile", "ReadFile", "Create", "WriteFile", "Truncate":
				name := strings.ToLower(types.ExprString(call.Args[0]))
				if strings.Contains(name, "sqlite") && !p.excused(f, call.Pos(), "not live:") {
					out = append(out, p.at("live-database", call.Pos(), "os.%s(%s): only SQLite opens live databases (or say // not live: why)", sel.Sel.Name, types.ExprString(call.Args[0])))
				}
			}
			return true
		})
	}
	return out
}

// startUpRule: a regular expression of a package is compiled when it is first used; a
// hundred of them take 8 ms of each start.
func startUpRule(p *pkg) []finding {
	var out []finding
	for _, f := range append(append([]*ast.File{}, p.Files...), p.Untyped...) {
		for _, decl := range f.Decls {
			vars, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			ast.Inspect(vars, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					return false
				case *ast.SelectorExpr:
					if p.packageOf(f, n.X) == "regexp" && n.Sel.Name == "MustCompile" {
						out = append(out, p.at("start-up", n.Pos(), "regexp.MustCompile of a package runs in each start: use internal/lazyregexp"))
					}
				}
				return true
			})
		}
	}
	return out
}

// docRule: every exported symbol says what it is for.
func docRule(p *pkg) []finding {
	var out []finding
	missing := func(pos token.Pos, name string) {
		out = append(out, p.at("doc", pos, "%s is exported and has no docstring", name))
	}
	for _, f := range append(append([]*ast.File{}, p.Files...), p.Untyped...) {
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
					missing(d.Pos(), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
							missing(s.Pos(), s.Name.Name)
						}
					case *ast.ValueSpec:
						if s.Names[0].IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
							missing(s.Pos(), s.Names[0].Name)
						}
					}
				}
			}
		}
	}
	return out
}

// exportedReceiver reports whether d is a function, or a method of a type that
// other packages can name.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// Every package of the module keeps every rule, except where an allowance says
// why not; and an allowance stands only as long as its package does what the
// rule forbids.
func TestRules(t *testing.T) {
	exists := map[string]bool{}
	for _, p := range loadModule(t) {
		exists[p.rel] = true
		if p.typeErr != nil {
			t.Errorf("%s does not type-check: %v", p.rel, p.typeErr)
		}
		for _, r := range rules {
			found := r.check(p)
			if allowances[r.name][p.rel] == "" {
				for _, f := range found {
					t.Error(f)
				}
			} else if len(found) == 0 {
				t.Errorf("%s is allowed to break %q and does not", p.rel, r.name)
			}
		}
	}
	for _, r := range rules {
		for _, rel := range sortedKeys(allowances[r.name]) {
			if !exists[rel] {
				t.Errorf("%s is allowed to break %q and does not exist", rel, r.name)
			}
		}
	}
}
