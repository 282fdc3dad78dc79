package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
	"strings"
)

// All mutants are built together, as mutant schemata (R. Untch, J. Offutt, M. J. Harrold:
// Mutation analysis using mutant schemata, ISSTA 1993): each has a copy of the function
// that it changes, and the function begins by calling the copy of the mutant that the
// environment names, if that is one of its own.

// activeVariable is the environment variable with the number of the mutant, from 1.
const activeVariable = "MINIDO_MUTANT"

// activeFile is what each package of targets gets besides its own files.
const activeFile = "mutant_active_overlay.go"

// activeSource declares which mutant runs.
func activeSource(pkg string) string {
	return fmt.Sprintf("package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantActive, _ = strconv.Atoi(os.Getenv(%q))\n", pkg, activeVariable)
}

// numbered is a mutant with its number.
type numbered struct {
	mutant
	id int
}

// schema is a file with its mutants.
type schema struct {
	pkg    string // its name
	text   string
	copies []copied // in the order of the text
}

// copied is where a mutant's copy of a function is: lines, from 1.
type copied struct{ id, from, to int }

// at is the mutant whose copy has the line, 0 for none.
func (s schema) at(line int) int {
	i := sort.Search(len(s.copies), func(i int) bool { return s.copies[i].to >= line })
	if i < len(s.copies) && s.copies[i].from <= line {
		return s.copies[i].id
	}
	return 0
}

// schemaOf puts mutants of one file into it.
func schemaOf(file string, src []byte, mutants []numbered) (schema, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if err != nil {
		return schema{}, err
	}
	w := &schemaWriter{src: src, offset: func(p token.Pos) int { return fset.Position(p).Offset }}
	left := len(mutants)
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		var own []numbered
		for _, m := range mutants {
			if w.offset(fn.Body.Pos()) <= m.from && m.to <= w.offset(fn.Body.End()) {
				own = append(own, m)
			}
		}
		if left -= len(own); len(own) > 0 {
			w.function(fn, own)
		}
	}
	if left != 0 {
		return schema{}, fmt.Errorf("%s: %d mutants are in no function", file, left)
	}
	return w.finish(f.Name.Name), nil
}

// schemaWriter collects the text of a schema.
type schemaWriter struct {
	src    []byte
	offset func(token.Pos) int
	done   int          // how much of src is in head
	head   bytes.Buffer // the file, whose functions choose
	tail   bytes.Buffer // the copies
	lines  int          // of tail
	copies []copied     // by lines of tail
	named  int          // parameters
}

// function has a function choose among copies of itself.
func (w *schemaWriter) function(fn *ast.FuncDecl, mutants []numbered) {
	receiver := ""
	if fn.Recv != nil {
		receiver = w.names(fn.Recv)[0] + "."
	}
	parameters := ""
	if fn.Type.TypeParams != nil {
		parameters = "[" + strings.Join(w.names(fn.Type.TypeParams), ", ") + "]"
	}
	arguments := strings.Join(w.names(fn.Type.Params), ", ")
	w.upTo(w.offset(fn.Body.Lbrace) + 1)
	w.head.WriteString("\nswitch mutantActive {\n")
	for _, m := range mutants {
		call := fmt.Sprintf("%smutant%d%s(%s)", receiver, m.id, parameters, arguments)
		if fn.Type.Results != nil {
			call = "return " + call
		} else {
			call += "\nreturn"
		}
		fmt.Fprintf(&w.head, "case %d:\n%s\n", m.id, call)
		w.copy(fn, m)
	}
	w.head.WriteString("}\n")
}

// copy writes a mutant's copy of a function.
func (w *schemaWriter) copy(fn *ast.FuncDecl, m numbered) {
	text := func(from, to int) string { return string(w.src[from:to]) }
	copy := fmt.Sprintf("%smutant%d%s%s%s\n", text(w.offset(fn.Type.Func), w.offset(fn.Name.Pos())), m.id,
		text(w.offset(fn.Name.End()), m.from), m.with, text(m.to, w.offset(fn.End())))
	w.tail.WriteString(copy)
	begin := w.lines + 1
	w.lines += strings.Count(copy, "\n")
	w.copies = append(w.copies, copied{m.id, begin, w.lines})
}

// names are those of parameters, as arguments that hand them on; those without a
// name get one.
func (w *schemaWriter) names(list *ast.FieldList) (names []string) {
	for _, field := range list.List {
		variadic := ""
		if _, ok := field.Type.(*ast.Ellipsis); ok {
			variadic = "..."
		}
		add := func(name string) { names = append(names, name+variadic) }
		if len(field.Names) == 0 {
			w.upTo(w.offset(field.Type.Pos()))
			add(w.fresh(" "))
		}
		for _, name := range field.Names {
			if name.Name != "_" {
				add(name.Name)
				continue
			}
			w.upTo(w.offset(name.Pos()))
			w.done = w.offset(name.End())
			add(w.fresh(""))
		}
	}
	return names
}

// fresh writes a new name for a parameter, and what comes between it and its type.
func (w *schemaWriter) fresh(between string) string {
	w.named++
	name := fmt.Sprintf("mutantArgument%d", w.named)
	w.head.WriteString(name + between)
	return name
}

// upTo writes the file as it is, up to an offset.
func (w *schemaWriter) upTo(end int) {
	w.head.Write(w.src[w.done:end])
	w.done = end
}

func (w *schemaWriter) finish(pkg string) schema {
	w.upTo(len(w.src))
	w.head.WriteString("\n")
	lines := bytes.Count(w.head.Bytes(), []byte("\n"))
	for i := range w.copies {
		w.copies[i].from += lines
		w.copies[i].to += lines
	}
	return schema{pkg, w.head.String() + w.tail.String(), w.copies}
}
