package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/crc32"
	"os"
	"sort"
	"strconv"
	"strings"
)

// mutant is one change to one file.
type mutant struct {
	File     string `json:"file"` // slash-separated, from the top of the repository
	Func     string `json:"func"`
	Op       string `json:"op"`
	Text     string `json:"text"` // what is changed, on one line
	Nth      int    `json:"nth"`  // among those of the same Func, Op and Text, from 0
	line     int
	from, to int // bytes of the file
	with     string
	start    place
	end      place
}

// place is a line and a column of a file, from 1.
type place struct{ Line, Column int }

func (p place) before(q place) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Column < q.Column
}

func placeAt(src []byte, offset int) place {
	return place{1 + strings.Count(string(src[:offset]), "\n"), offset - strings.LastIndexByte(string(src[:offset]), '\n')}
}

// name identifies the mutant while its function's text stays.
func (m mutant) name() string {
	return fmt.Sprintf("%s %s %s #%d %s", m.File, m.Func, m.Op, m.Nth, m.Text)
}

// mutator collects the mutants of a file.
type mutator struct {
	file  string
	src   []byte
	fset  *token.FileSet
	fn    string
	count map[string]int
	out   []mutant
	// failing says that the function's only result is an error.
	failing bool
	// whole are conditions that are negated as a whole already.
	whole map[ast.Node]bool
	// around are the nodes that are being visited, the outermost first.
	around []ast.Node
}

// mutate lists the mutants of the functions of a file; no names mean all.
func mutate(top, file string, names []string) ([]mutant, error) {
	src, err := os.ReadFile(top + "/" + file)
	if err != nil {
		return nil, err
	}
	m := &mutator{file: file, src: src, fset: token.NewFileSet(), count: map[string]int{}, whole: map[ast.Node]bool{}}
	f, err := parser.ParseFile(m.fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, n := range names {
		wanted[n] = true
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || len(names) > 0 && !wanted[fn.Name.Name] {
			continue
		}
		m.fn, m.failing = fn.Name.Name, false
		delete(wanted, m.fn)
		m.early(fn)
		ast.Inspect(fn.Body, m.visit)
	}
	if len(names) > 0 && len(wanted) > 0 {
		return nil, fmt.Errorf("%s has no functions %v", file, wanted)
	}
	return m.out, nil
}

func (m *mutator) offset(p token.Pos) int { return m.fset.Position(p).Offset }

func (m *mutator) text(n ast.Node) string { return string(m.src[m.offset(n.Pos()):m.offset(n.End())]) }

func (m *mutator) add(op string, n ast.Node, with string) {
	m.addRange(op, m.offset(n.Pos()), m.offset(n.End()), with)
	if _, ok := n.(ast.Stmt); !ok { // coverage has no place for what stands behind a function in a statement
		last := &m.out[len(m.out)-1]
		last.start = placeAt(m.src, m.statement(m.offset(n.Pos())))
		last.end = last.start
	}
}

// statement is where the innermost statement begins that what is being visited is part of; of a
// condition of a switch, the switch.
func (m *mutator) statement(offset int) int {
	for i := len(m.around) - 1; i >= 0; i-- {
		switch n := m.around[i].(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		case ast.Stmt:
			return m.offset(n.Pos())
		}
	}
	return offset
}

func (m *mutator) addRange(op string, from, to int, with string) {
	text := strings.Join(strings.Fields(string(m.src[from:to])), " ")
	if len(text) > 100 {
		text = text[:100] + "..."
	}
	key := m.fn + op + text
	m.out = append(m.out, mutant{File: m.file, Func: m.fn, Op: op, Text: text, Nth: m.count[key],
		line: placeAt(m.src, from).Line, from: from, to: to, with: with, start: placeAt(m.src, from), end: placeAt(m.src, to)})
	m.count[key]++
}

func (m *mutator) visit(n ast.Node) bool {
	if n == nil {
		m.around = m.around[:len(m.around)-1]
		return true
	}
	if m.around = append(m.around, n); !m.mutateNode(n) {
		m.around = m.around[:len(m.around)-1] // Inspect does not call for its end
		return false
	}
	return true
}

// mutateNode adds the mutants of a node, and reports whether those of its parts are wanted.
func (m *mutator) mutateNode(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BlockStmt:
		m.statements(n.List)
	case *ast.CaseClause:
		m.statements(n.Body)
	case *ast.IfStmt:
		if m.planted(n) {
			return false
		}
		m.negate(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			m.negate(n.Cond)
		}
	case *ast.BinaryExpr:
		m.binary(n)
	case *ast.BasicLit:
		if v, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
			m.add("off by one", n, strconv.FormatInt(v+1, 10))
		}
	case *ast.ReturnStmt:
		if len(n.Results) == 1 {
			m.result(n.Results[0])
		}
	}
	return true
}

// planted reports whether a statement is a planted bug, whose condition is false in every
// build but one for tests.
func (m *mutator) planted(s ast.Stmt) bool {
	n, ok := s.(*ast.IfStmt)
	return ok && strings.Contains(m.text(n.Cond), "planted.")
}

// early makes the function end before it has done anything.
func (m *mutator) early(fn *ast.FuncDecl) {
	at := m.offset(fn.Body.Lbrace) + 1
	switch r := fn.Type.Results; {
	case len(fn.Body.List) == 0:
	case r == nil:
		m.addAt(at, "return early", "\nreturn\n")
	case len(r.List) == 1 && len(r.List[0].Names) <= 1 && m.text(r.List[0].Type) == "error":
		m.failing = true
		m.addAt(at, "return early", "\nreturn nil\n")
	}
}

// addAt adds a mutant that inserts a statement.
func (m *mutator) addAt(at int, op, with string) {
	m.addRange(op, at, at, with)
}

func (m *mutator) negate(cond ast.Expr) {
	m.whole[cond] = true
	m.add("negate", cond, "!("+m.text(cond)+")")
}

// result drops an error that is returned, or the call that may give it, or
// negates a comparison.
func (m *mutator) result(n ast.Expr) {
	text := m.text(n)
	switch x := n.(type) {
	case *ast.CallExpr:
		if strings.HasPrefix(text, "fmt.Errorf(") || strings.HasPrefix(text, "errors.Join(") {
			m.add("drop error", n, "nil")
		} else if m.failing {
			m.add("drop call", n, "nil")
		}
	case *ast.Ident:
		if text == "err" {
			m.add("drop error", n, "nil")
		}
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			m.negate(n)
		}
	}
}

// binary changes a comparison by one, or a conjunction.
func (m *mutator) binary(n *ast.BinaryExpr) {
	other := map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.LAND: "||", token.LOR: "&&",
		token.EQL: "!=", token.NEQ: "=="}[n.Op]
	if other == "" {
		return
	}
	op := "off by one"
	switch n.Op {
	case token.LAND, token.LOR:
		op = "and/or"
	case token.EQL, token.NEQ:
		if m.whole[n] {
			return
		}
		op = "negate"
	}
	m.add(op, n, m.text(n.X)+" "+other+" "+m.text(n.Y))
}

// statements deletes each statement that stands for itself, and swaps each with
// the next one.
func (m *mutator) statements(list []ast.Stmt) {
	for i, s := range list {
		if !deletable(s) || m.planted(s) {
			continue
		}
		m.add("delete", s, "")
		if i+1 < len(list) && swappable(s) && swappable(list[i+1]) && !m.planted(list[i+1]) {
			next := list[i+1]
			from, to := m.offset(s.Pos()), m.offset(next.End())
			m.addRange("swap", from, to, m.text(next)+"\n"+m.text(s))
		}
	}
}

// swappable leaves out what is deferred, whose place among its neighbours does not matter.
func swappable(s ast.Stmt) bool {
	_, deferred := s.(*ast.DeferStmt)
	return deletable(s) && !deferred
}

func deletable(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.IfStmt, *ast.SendStmt:
		return true
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	}
	return false
}

// allMutants lists the named mutants and then those of the targets, in an order
// without meaning that stays the same.
func allMutants(top string) ([]mutant, error) {
	var out []mutant
	for _, t := range targets {
		list, err := mutate(top, t.file, t.funcs)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i].name(), out[j].name()
		if x, y := crc32.ChecksumIEEE([]byte(a)), crc32.ChecksumIEEE([]byte(b)); x != y {
			return x < y
		}
		return a < b
	})
	byHand, err := namedMutants(top)
	return append(byHand, out...), err
}

// namedMutants finds the places of the mutants by hand.
func namedMutants(top string) ([]mutant, error) {
	var out []mutant
	for _, n := range named {
		src, err := os.ReadFile(top + "/" + n.file)
		if err != nil {
			return nil, err
		}
		from := strings.Index(string(src), n.old)
		if strings.Count(string(src), n.old) != 1 {
			return nil, fmt.Errorf("%s: the mutant %q looks for one %q", n.file, n.name, n.old)
		}
		to := from + len(n.old)
		out = append(out, mutant{File: n.file, Func: n.fn, Op: "named", Text: n.name, line: placeAt(src, from).Line,
			from: from, to: to, with: n.with, start: placeAt(src, from), end: placeAt(src, to)})
	}
	return out, nil
}
