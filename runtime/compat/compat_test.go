package compat

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
)

// The table is sound: names are unique, dates are dates, and no state lacks what
// explains it.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	date := regexp.MustCompile(`^(\d{4}-\d\d-\d\d)?$`)
	for _, f := range Flags() {
		row := f.Row()
		for _, name := range []string{row.Name, row.Disable} {
			if name != "" && seen[name] {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
		}
		if !date.MatchString(row.Date) || !date.MatchString(row.ImpliedDate) || (row.ImpliedBy == nil) != (row.ImpliedDate == "") {
			t.Errorf("%s: %+v", f, row)
		}
		if (row.State == NoDifference) != (row.Note != "") {
			t.Errorf("%s: a note explains why there is no difference, and nothing else: %q", f, row.Note)
		}
		if by, enables, found := Lookup(row.Name); by != f || !enables || !found {
			t.Errorf("%s is not found by its name", f)
		}
	}
}

// The reasons of a decision are workerd's.
func TestDecide(t *testing.T) {
	s := Set{Date: "2025-01-01", Asked: []string{"nodejs_compat", "url_original"}}
	for f, want := range map[Flag]string{
		NodejsCompat: "true flag", UrlStandard: "false flag", NodejsCompatV2: "true implied", GlobalNavigator: "true date",
		EnableCtxExports: "false default", UnsafeModule: "false default",
	} {
		on, why := s.Decide(f)
		if got := fmt.Sprintf("%v %s", on, why); got != want {
			t.Errorf("%s: %s, want %s", f, got, want)
		}
	}
}

// What is not implemented is told exactly when a worker has it otherwise than
// minido behaves.
func TestUnheeded(t *testing.T) {
	if named, byDate := (Set{Date: LatestDate}).Unheeded(); len(named) > 0 {
		t.Errorf("at the latest date: %v, %v", named, byDate)
	}
	named, byDate := Set{Date: LatestDate, Asked: []string{"url_original", "pedantic_wpt", "no_pedantic", "nodejs_compat"}}.Unheeded()
	if fmt.Sprint(named) != "[url_standard pedantic_wpt]" {
		t.Errorf("%v, %v", named, byDate)
	}
	_, old := Set{Date: "2021-01-01"}.Unheeded()
	if len(old) <= len(byDate) {
		t.Errorf("at an old date: %v", old)
	}
}

// uses are the flags that the product's code names.
func uses(t *testing.T) map[string]bool {
	used := map[string]bool{}
	root := filepath.Join("..", "..")
	preludes := regexp.MustCompile(`native\.compat\("(\w+)"\)`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == "fixtures" || d.Name() == ".git"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".js"):
			text, err := os.ReadFile(path)
			for _, m := range preludes.FindAllSubmatch(text, -1) {
				if f, _, found := Lookup(string(m[1])); found {
					used[f.String()] = true
				} else {
					t.Errorf("%s asks for the flag %q, which does not exist", path, m[1])
				}
			}
			return err
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "compat" {
					used[sel.Sel.Name] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// Exactly the flags that code names are called implemented; a flag that is never
// on may be named by what refuses to go without it.
func TestImplementedFlagsAreUsed(t *testing.T) {
	used := uses(t)
	for _, f := range Flags() {
		if is := used[constant(f.String())] || used[f.String()]; is != (f.Row().State == Implemented) && !(is && f.Row().State == NeverOn) {
			t.Errorf("%s is used: %v; its state is %d", f, is, f.Row().State)
		}
	}
}

// constant is the name of a flag's constant: that of the flag, with a capital after
// each mark.
func constant(name string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// docs/compatibility.md has what minido makes of each flag.
func TestCompatibility(t *testing.T) {
	var out strings.Builder
	lists := map[string][]string{}
	var reasons []string
	fmt.Fprintln(&out, "| flag | on from | minido |\n|---|---|---|")
	for _, f := range Flags() {
		row := f.Row()
		from := row.Date
		if row.ImpliedBy != nil {
			from = strings.TrimPrefix(fmt.Sprintf("%s, with %s from %s", row.Date, row.ImpliedBy[0], row.ImpliedDate), ", ")
		}
		if row.Experimental {
			from = "experimental"
		}
		switch row.State {
		case Implemented:
			fmt.Fprintf(&out, "| `%s` | %s | acts on it |\n", f, from)
		case AlwaysOn:
			fmt.Fprintf(&out, "| `%s` | %s | as if it were on |\n", f, from)
		case NeverOn:
			fmt.Fprintf(&out, "| `%s` | %s | as if it were off |\n", f, from)
		case NoDifference:
			if lists[row.Note] == nil {
				reasons = append(reasons, row.Note)
			}
			lists[row.Note] = append(lists[row.Note], "`"+f.String()+"`")
		}
	}
	fmt.Fprint(&out, "\nNo difference here:\n")
	for _, reason := range reasons {
		fmt.Fprintf(&out, "- %s: %s\n", reason, strings.Join(lists[reason], ", "))
	}
	golden.Section(t, "../../docs/compatibility.md", "flags", out.String())
}
