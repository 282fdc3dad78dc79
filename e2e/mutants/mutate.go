package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
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
}

// mutate lists the mutants of the functions of a file; no names mean all.
func mutate(top, file string, names []string) ([]mutant, error) {
	src, err := os.ReadFile(top + "/" + file)
	if err != nil {
		return nil, err
	}
	m := &mutator{file: file, src: src, fset: token.NewFileSet(), count: map[string]int{}}
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
		m.fn = fn.Name.Name
		delete(wanted, m.fn)
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
}

func (m *mutator) addRange(op string, from, to int, with string) {
	text := strings.Join(strings.Fields(string(m.src[from:to])), " ")
	if len(text) > 100 {
		text = text[:100] + "..."
	}
	key := m.fn + op + text
	m.out = append(m.out, mutant{File: m.file, Func: m.fn, Op: op, Text: text, Nth: m.count[key],
		line: 1 + strings.Count(string(m.src[:from]), "\n"), from: from, to: to, with: with})
	m.count[key]++
}

func (m *mutator) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BlockStmt:
		m.statements(n.List)
	case *ast.CaseClause:
		m.statements(n.Body)
	case *ast.IfStmt:
		m.add("negate", n.Cond, "!("+m.text(n.Cond)+")")
	case *ast.ForStmt:
		if n.Cond != nil {
			m.add("negate", n.Cond, "!("+m.text(n.Cond)+")")
		}
	case *ast.BinaryExpr:
		m.binary(n)
	case *ast.BasicLit:
		if v, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
			m.add("off by one", n, strconv.FormatInt(v+1, 10))
		}
	case *ast.ReturnStmt:
		if len(n.Results) == 1 {
			if text := m.text(n.Results[0]); text == "err" || strings.HasPrefix(text, "fmt.Errorf(") || strings.HasPrefix(text, "errors.Join(") {
				m.add("drop error", n.Results[0], "nil")
			}
		}
	}
	return true
}

// binary changes a comparison by one, or a conjunction.
func (m *mutator) binary(n *ast.BinaryExpr) {
	other := map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.LAND: "||", token.LOR: "&&"}[n.Op]
	if other == "" {
		return
	}
	op := "off by one"
	if n.Op == token.LAND || n.Op == token.LOR {
		op = "and/or"
	}
	m.add(op, n, m.text(n.X)+" "+other+" "+m.text(n.Y))
}

// statements deletes each statement that stands for itself, and swaps each with
// the next one.
func (m *mutator) statements(list []ast.Stmt) {
	for i, s := range list {
		if !deletable(s) {
			continue
		}
		m.add("delete", s, "")
		if i+1 < len(list) && deletable(list[i+1]) {
			next := list[i+1]
			from, to := m.offset(s.Pos()), m.offset(next.End())
			m.addRange("swap", from, to, m.text(next)+"\n"+m.text(s))
		}
	}
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
