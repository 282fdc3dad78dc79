// Command dead lists the functions and methods of a module that no program and no test
// of it uses: `go run ./internal/dead ./...`. It ends with 1 if there are any, and
// with 2 if the packages cannot be loaded.
//
// A function is used if something that is used mentions it. Methods are used, too, if their
// type implements an interface of another module, or one of this module whose method is used,
// and if reflection looks for their name (byName). The types of other modules come from
// what the compiler has written about them; golang.org/x/tools/cmd/deadcode, which analyzes
// their code as well, takes several times as long, and seven gigabytes.
package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// byName are methods that are found by their names: those of commands and flags by kong, those
// of errors by package errors and by what asks for a Timeout.
var byName = []string{"Run", "AfterApply", "BeforeApply", "Validate", "Help", "Is", "As", "Unwrap", "Timeout", "Temporary"}

func main() {
	patterns := os.Args[1:]
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	found, err := dead("", patterns)
	if err != nil {
		fmt.Fprintln(os.Stderr, "dead:", err)
		os.Exit(2)
	}
	for _, f := range found {
		fmt.Println(f, "is used by nobody")
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// dead are the places and names of what nobody uses in the packages of a directory's module.
func dead(dir string, patterns []string) ([]string, error) {
	loaded, err := packages.Load(&packages.Config{Dir: dir, Tests: true, Mode: packages.NeedName | packages.NeedModule | packages.NeedFiles |
		packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo}, patterns...)
	if err != nil {
		return nil, err
	}
	g := graph{functions: map[string]*function{}, methods: map[string][]method{}, foreign: map[string][]*types.Interface{},
		seen: map[*types.Package]bool{}, asked: map[asked]bool{}}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, e
		}
		if p.Module != nil {
			g.own = append(g.own, p.Types)
		}
	}
	g.collect(types.Universe)
	for _, p := range loaded {
		for _, imported := range p.Types.Imports() {
			g.imported(imported)
		}
	}
	for _, p := range loaded {
		if p.Module != nil { // not the main package of tests, which is generated
			g.add(p)
		}
	}
	for _, f := range g.roots {
		g.use(f)
	}
	g.useForeign()
	return g.unused(), nil
}

// graph is who uses whom. Functions are known by their full names, since a package is loaded
// again for its tests.
type graph struct {
	own       []*types.Package
	functions map[string]*function
	roots     []*types.Func                 // what is used in any case
	methods   map[string][]method           // those of the module's types, promoted ones too, by name
	foreign   map[string][]*types.Interface // of other modules, by the names of their methods
	seen      map[*types.Package]bool
	asked     map[asked]bool
}

// function is one that the module declares.
type function struct {
	at   string        // its place
	uses []*types.Func // what its body mentions
	used bool
}

// method is one that a type has.
type method struct {
	of *types.Named
	is *types.Func
}

// asked is a method of an interface that is used.
type asked struct {
	in   *types.Interface
	name string
}

// imported collects the interfaces of a package of another module, and of those it imports.
func (g *graph) imported(p *types.Package) {
	if g.seen[p] || slices.Contains(g.own, p) {
		return
	}
	g.seen[p] = true
	g.collect(p.Scope())
	for _, other := range p.Imports() {
		g.imported(other)
	}
}

func (g *graph) collect(scope *types.Scope) {
	for _, name := range scope.Names() {
		object, ok := scope.Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		if i, ok := object.Type().Underlying().(*types.Interface); ok {
			for m := range i.Methods() {
				g.foreign[m.Name()] = append(g.foreign[m.Name()], i)
			}
		}
	}
}

// add takes the declarations of a package.
func (g *graph) add(p *packages.Package) {
	for _, object := range p.TypesInfo.Defs { // order-independent: a set of types
		if t, ok := object.(*types.TypeName); ok {
			g.addType(t)
		}
	}
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			uses := mentioned(p.TypesInfo, d)
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				g.roots = append(g.roots, uses...) // variables are set when the program starts
				continue
			}
			of := p.TypesInfo.Defs[f.Name].(*types.Func)
			known := g.functions[of.FullName()]
			if known == nil {
				known = &function{at: p.Fset.Position(f.Name.Pos()).String()}
				g.functions[of.FullName()] = known
			}
			known.uses = append(known.uses, uses...)
			if root(of, p.Fset.Position(f.Pos())) || f.Body == nil {
				g.roots = append(g.roots, of)
			}
		}
	}
}

// addType takes the methods of a type, with those that embedded types give it.
func (g *graph) addType(t *types.TypeName) {
	named, ok := t.Type().(*types.Named)
	if !ok || types.IsInterface(named) {
		return
	}
	for s := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		f := s.Obj().(*types.Func).Origin()
		g.methods[f.Name()] = append(g.methods[f.Name()], method{named, f})
	}
}

// mentioned are the functions that a declaration mentions, and the methods of interfaces that
// it asks values for.
func mentioned(info *types.Info, d ast.Decl) (list []*types.Func) {
	ask := func(e ast.Expr) {
		if t := info.TypeOf(e); t != nil && types.IsInterface(t) {
			list = slices.AppendSeq(list, t.Underlying().(*types.Interface).Methods())
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if f, ok := info.Uses[n].(*types.Func); ok {
				list = append(list, f.Origin())
			}
		case *ast.TypeAssertExpr:
			if n.Type != nil {
				ask(n.Type)
			}
		case *ast.TypeSwitchStmt:
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					ask(e)
				}
			}
		}
		return true
	})
	return list
}

// root reports whether the system, the test runner or reflection calls a function.
func root(f *types.Func, at token.Position) bool {
	if f.Signature().Recv() != nil {
		return slices.Contains(byName, f.Name())
	}
	if f.Name() == "main" || f.Name() == "init" || f.Name() == "_" {
		return true
	}
	return strings.HasSuffix(at.Filename, "_test.go") && slices.ContainsFunc([]string{"Test", "Benchmark", "Fuzz", "Example"}, func(prefix string) bool {
		return strings.HasPrefix(f.Name(), prefix)
	})
}

// use says that a function is used, and so is what it mentions.
func (g *graph) use(f *types.Func) {
	if receiver := f.Signature().Recv(); receiver != nil {
		if i, ok := receiver.Type().Underlying().(*types.Interface); ok {
			g.implement(asked{i, f.Name()})
			return
		}
	}
	known := g.functions[f.FullName()]
	if known == nil || known.used {
		return
	}
	known.used = true
	for _, other := range known.uses {
		g.use(other)
	}
}

// implement uses the methods that a call through an interface may reach.
func (g *graph) implement(a asked) {
	if g.asked[a] {
		return
	}
	g.asked[a] = true
	for _, m := range g.methods[a.name] {
		if implements(m.of, a.in) {
			g.use(m.is)
		}
	}
}

// useForeign uses the methods that other modules may call.
func (g *graph) useForeign() {
	for name, interfaces := range g.foreign { // order-independent: uses only add up
		for _, i := range interfaces {
			g.implement(asked{i, name})
		}
	}
}

// implements reports whether a type does, or a pointer to it; where one of the two is generic
// it may.
func implements(t *types.Named, i *types.Interface) bool {
	return t.TypeParams().Len() > 0 || generic(i) || types.Implements(types.NewPointer(t), i)
}

// generic reports whether a method of an interface has a type parameter.
func generic(i *types.Interface) bool {
	for m := range i.Methods() {
		for _, tuple := range []*types.Tuple{m.Signature().Params(), m.Signature().Results()} {
			for v := range tuple.Variables() {
				if _, ok := types.Unalias(v.Type()).(*types.TypeParam); ok {
					return true
				}
			}
		}
	}
	return false
}

func (g *graph) unused() (list []string) {
	for name, f := range g.functions { // order-independent: sorted below
		if !f.used {
			list = append(list, f.at+": "+name)
		}
	}
	slices.Sort(list)
	return list
}
