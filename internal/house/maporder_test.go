package house

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// mapOrderRule: what a program does never depends on the order in which Go
// happens to walk a map, because a simulation must give the same history for
// the same seed. A walk over a map is accepted when its body is one of the
// forms that this rule can see to be independent of the order (mapBody), or
// when a comment "// order-independent: why" stands on its line or above it.
func mapOrderRule(p *pkg) []finding {
	var out []finding
	for _, f := range p.Files {
		for _, decl := range f.Decls {
			w := &mapWalk{p: p, file: f, fn: decl}
			ast.Inspect(decl, w.visit)
			out = append(out, w.found...)
		}
	}
	return out
}

const orderMarker = "order-independent:"

type mapWalk struct {
	p     *pkg
	file  *ast.File
	fn    ast.Decl          // where a later sort is looked for
	safe  map[ast.Expr]bool // iterator calls whose consumer imposes an order
	found []finding
}

func (w *mapWalk) refuse(pos token.Pos, why string) {
	if !w.p.excused(w.file, pos, orderMarker) {
		w.found = append(w.found, w.p.at("map-order", pos, "%s: sort the keys, or say // order-independent: why", why))
	}
}

func (w *mapWalk) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.RangeStmt:
		iterator := w.iterator(n.X)
		if iterator {
			w.accept(n.X)
		}
		if (iterator || w.isMap(n.X)) && (n.Key != nil || n.Value != nil) {
			b := &mapBody{w: w, loop: n, assigned: map[string]bool{}}
			if why := b.check(); why != "" {
				w.refuse(n.Pos(), "the walk over "+types.ExprString(n.X)+" "+why)
			}
		}
	case *ast.CallExpr:
		w.call(n)
	}
	return true
}

func (w *mapWalk) accept(x ast.Expr) {
	if w.safe == nil {
		w.safe = map[ast.Expr]bool{}
	}
	w.safe[x] = true
}

// call looks at uses of a map's order outside a range statement.
func (w *mapWalk) call(n *ast.CallExpr) {
	name := w.callee(n)
	switch name {
	case "slices.Sorted", "slices.SortedFunc", "slices.SortedStableFunc", "maps.Collect":
		w.accept(n.Args[0])
	case "slices.Collect":
		// Collected into a variable that is sorted before the function ends.
		if target := assignedTo(w.fn, n); target != "" && w.sortedAfter(target, n.End()) {
			w.accept(n.Args[0])
		}
	case "(*sync.Map).Range", "(reflect.Value).MapRange", "(reflect.Value).MapKeys":
		w.refuse(n.Pos(), name+" walks in no order")
	}
	if w.iterator(n) && !w.safe[n] {
		w.refuse(n.Pos(), name+" yields in no order")
	}
}

// callee is the full name of the function or method called, "" if unknown.
func (w *mapWalk) callee(call *ast.CallExpr) string {
	fun := ast.Unparen(call.Fun)
	if idx, ok := fun.(*ast.IndexExpr); ok {
		fun = idx.X
	}
	switch f := fun.(type) {
	case *ast.SelectorExpr:
		if fn, ok := w.p.info.Uses[f.Sel].(*types.Func); ok {
			return fn.FullName()
		}
	case *ast.Ident:
		switch obj := w.p.info.Uses[f].(type) {
		case *types.Func:
			return obj.FullName()
		case *types.Builtin:
			return obj.Name()
		}
	}
	return ""
}

func (w *mapWalk) iterator(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	switch w.callee(call) {
	case "maps.Keys", "maps.Values", "maps.All":
		return true
	}
	return false
}

func (w *mapWalk) isMap(x ast.Expr) bool {
	tv, ok := w.p.info.Types[x]
	if !ok || tv.Type == nil {
		return false
	}
	if _, ok := tv.Type.Underlying().(*types.Map); ok {
		return true
	}
	tp, ok := tv.Type.(*types.TypeParam)
	return ok && strings.Contains(types.TypeString(tp.Constraint().Underlying(), nil), "map[")
}

// sortedAfter reports whether the function sorts target somewhere after pos.
func (w *mapWalk) sortedAfter(target string, pos token.Pos) bool {
	sorted := false
	ast.Inspect(w.fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < pos || len(call.Args) == 0 {
			return true
		}
		name := w.callee(call)
		if strings.HasPrefix(name, "slices.Sort") || strings.HasPrefix(name, "sort.") {
			ast.Inspect(call.Args[0], func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok && types.ExprString(e) == target {
					sorted = true
				}
				return true
			})
		}
		return true
	})
	return sorted
}

// assignedTo is the variable to which body assigns call, "" if there is none.
func assignedTo(body ast.Decl, call *ast.CallExpr) string {
	target := ""
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && a.Rhs[0] == ast.Expr(call) {
			target = types.ExprString(a.Lhs[0])
		}
		return true
	})
	return target
}

// mapBody decides whether one loop over a map does only what comes out the
// same in any order: delete from a map; store under the loop's own key, or a
// constant; count in integers; append to a slice that is sorted later; set a
// variable to a constant; keep a minimum or maximum of the keys; return a
// constant. Conditions and values must be free of calls with effects and must
// not look at what the loop itself changes.
type mapBody struct {
	w        *mapWalk
	loop     *ast.RangeStmt
	assigned map[string]bool // what the body changes, as source text
	results  map[string]bool // the results it may return early
	builds   bool            // it accumulates: an early end would show the order
}

// check returns "" or why the loop cannot be accepted.
func (b *mapBody) check() string {
	b.results = map[string]bool{}
	ast.Inspect(b.loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, l := range n.Lhs {
					b.assigned[types.ExprString(l)] = true
				}
			}
		case *ast.IncDecStmt:
			b.assigned[types.ExprString(n.X)] = true
		}
		return true
	})
	if why := b.stmts(b.loop.Body.List, false); why != "" {
		return why
	}
	if len(b.results) > 1 || (len(b.results) == 1 && b.builds) {
		return "ends early, so that the order shows"
	}
	return ""
}

func (b *mapBody) stmts(list []ast.Stmt, inner bool) string {
	for _, s := range list {
		if why := b.stmt(s, inner); why != "" {
			return why
		}
	}
	return ""
}

// stmt judges one statement; inner says that it stands in a loop inside the
// loop over the map, where break and continue concern the inner one.
func (b *mapBody) stmt(s ast.Stmt, inner bool) string {
	switch s := s.(type) {
	case nil, *ast.EmptyStmt:
		return ""
	case *ast.BlockStmt:
		return b.stmts(s.List, inner)
	case *ast.DeclStmt:
		return ""
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if ok && (b.w.callee(call) == "delete" || b.w.callee(call) == "clear") && b.pureAll(call.Args) {
			b.builds = true
			return ""
		}
		return "calls " + types.ExprString(s.X)
	case *ast.IncDecStmt:
		b.builds = true
		if b.isInteger(s.X) {
			return ""
		}
		return "counts in something other than integers"
	case *ast.AssignStmt:
		return b.assign(s)
	case *ast.IfStmt:
		return b.ifStmt(s, inner)
	case *ast.SwitchStmt:
		return b.switchStmt(s)
	case *ast.RangeStmt:
		if b.w.isMap(s.X) || !b.pure(s.X) {
			return "has a loop inside that cannot be judged"
		}
		return b.stmts(s.Body.List, true)
	case *ast.BranchStmt:
		if s.Tok == token.CONTINUE && s.Label == nil {
			return ""
		}
		if s.Tok == token.BREAK && s.Label == nil {
			if !inner {
				b.results["break"] = true
			}
			return ""
		}
		return "jumps"
	case *ast.ReturnStmt:
		for _, r := range s.Results {
			if tv := b.w.p.info.Types[r]; tv.Value == nil && !tv.IsNil() {
				return "returns what it meets first"
			}
		}
		b.results[exprStrings(s.Results)] = true
		return ""
	}
	return "has a statement that cannot be judged"
}

func exprStrings(list []ast.Expr) string {
	var s []string
	for _, e := range list {
		s = append(s, types.ExprString(e))
	}
	return "return " + strings.Join(s, ", ")
}

func (b *mapBody) ifStmt(s *ast.IfStmt, inner bool) string {
	if b.isExtreme(s) {
		b.builds = true
		return ""
	}
	if s.Init != nil {
		if a, ok := s.Init.(*ast.AssignStmt); !ok || a.Tok != token.DEFINE || !b.pureAll(a.Rhs) {
			return "has a condition that cannot be judged"
		}
	}
	if !b.pure(s.Cond) {
		return "asks " + types.ExprString(s.Cond)
	}
	if why := b.stmts(s.Body.List, inner); why != "" {
		return why
	}
	return b.stmt(s.Else, inner)
}

// switchStmt judges all clauses; a break in one concerns the switch alone.
func (b *mapBody) switchStmt(s *ast.SwitchStmt) string {
	if s.Init != nil || (s.Tag != nil && !b.pure(s.Tag)) {
		return "has a switch that cannot be judged"
	}
	for _, c := range s.Body.List {
		clause := c.(*ast.CaseClause)
		if !b.pureAll(clause.List) {
			return "asks " + exprStrings(clause.List)[len("return "):]
		}
		if why := b.stmts(clause.Body, true); why != "" {
			return why
		}
	}
	return ""
}

// isExtreme recognises `if a < b { b = a }` in its four forms.
func (b *mapBody) isExtreme(s *ast.IfStmt) bool {
	cond, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || s.Init != nil || s.Else != nil || len(s.Body.List) != 1 {
		return false
	}
	a, ok := s.Body.List[0].(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || (cond.Op != token.LSS && cond.Op != token.GTR) {
		return false
	}
	x, y := types.ExprString(cond.X), types.ExprString(cond.Y)
	l, r := types.ExprString(a.Lhs[0]), types.ExprString(a.Rhs[0])
	return ((l == y && r == x) || (l == x && r == y)) && b.callsNothing(a.Rhs[0])
}

func (b *mapBody) assign(s *ast.AssignStmt) string {
	if s.Tok == token.DEFINE {
		if !b.pureAll(s.Rhs) {
			return "computes " + exprStrings(s.Rhs)[len("return "):]
		}
		return ""
	}
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return "assigns several variables at once"
	}
	left, right := s.Lhs[0], s.Rhs[0]
	switch s.Tok {
	case token.ASSIGN:
		return b.store(left, right)
	case token.ADD_ASSIGN, token.SUB_ASSIGN, token.OR_ASSIGN, token.AND_ASSIGN, token.XOR_ASSIGN:
		b.builds = true
		if b.isInteger(left) && b.pure(right) {
			return ""
		}
	}
	return "changes " + types.ExprString(left)
}

func (b *mapBody) store(left, right ast.Expr) string {
	if tv := b.w.p.info.Types[right]; (tv.Value != nil || tv.IsNil()) && b.callsNothing(left) {
		b.builds = b.builds || !isIdent(left)
		return ""
	}
	if idx, ok := left.(*ast.IndexExpr); ok && b.w.isMap(idx.X) {
		b.builds = true
		key, isKey := b.loop.Key.(*ast.Ident)
		id, isID := idx.Index.(*ast.Ident)
		if lit, ok := right.(*ast.CompositeLit); ok && len(lit.Elts) == 0 && b.pure(idx.Index) {
			return "" // a set: set[x] = struct{}{}
		}
		if isKey && isID && key.Name == id.Name && b.pure(right) {
			return ""
		}
		return "stores under a key that two entries may share"
	}
	if call, ok := right.(*ast.CallExpr); ok && b.w.callee(call) == "append" && types.ExprString(call.Args[0]) == types.ExprString(left) {
		b.builds = true
		if !b.pureAll(call.Args[1:]) {
			return "appends what cannot be judged"
		}
		if !b.w.sortedAfter(types.ExprString(left), b.loop.End()) {
			return "appends to " + types.ExprString(left) + ", which is not sorted afterwards"
		}
		return ""
	}
	return "sets " + types.ExprString(left)
}

func isIdent(e ast.Expr) bool { _, ok := e.(*ast.Ident); return ok }

func (b *mapBody) isInteger(e ast.Expr) bool {
	tv := b.w.p.info.Types[e]
	if tv.Type == nil {
		return false
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

func (b *mapBody) pureAll(list []ast.Expr) bool {
	for _, e := range list {
		if !b.pure(e) {
			return false
		}
	}
	return true
}

// pure reports whether e calls nothing with effects and reads nothing that the
// loop changes.
func (b *mapBody) pure(e ast.Expr) bool {
	ok := b.callsNothing(e)
	ast.Inspect(e, func(n ast.Node) bool {
		x, isExpr := n.(ast.Expr)
		if isExpr && b.ownSlot(x) {
			return false // no other turn of the loop changes it
		}
		if isExpr && b.assigned[types.ExprString(x)] {
			ok = false
		}
		return ok
	})
	return ok
}

// ownSlot reports whether x is a map's element under the loop's own key.
func (b *mapBody) ownSlot(x ast.Expr) bool {
	idx, ok := x.(*ast.IndexExpr)
	if !ok || !b.w.isMap(idx.X) || b.assigned[types.ExprString(idx.X)] {
		return false
	}
	key, isKey := b.loop.Key.(*ast.Ident)
	id, isID := idx.Index.(*ast.Ident)
	return isKey && isID && key.Name == id.Name
}

// harmless are the packages whose functions only compute.
var harmless = map[string]bool{"strings": true, "bytes": true, "strconv": true, "unicode": true, "path": true,
	"path/filepath": true, "cmp": true, "errors": true, "math": true, "math/bits": true, "unicode/utf8": true}

// callsNothing reports whether e calls only conversions, len, cap, min, max
// and functions that just compute.
func (b *mapBody) callsNothing(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ok = false
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		case *ast.CallExpr:
			if tv := b.w.p.info.Types[n.Fun]; tv.IsType() {
				return ok
			}
			name := b.w.callee(n)
			pkgPath, _, isFunc := strings.Cut(name, ".")
			if i := strings.LastIndex(name, "."); isFunc && !strings.HasPrefix(name, "(") {
				pkgPath = name[:i]
			}
			switch {
			case name == "len", name == "cap", name == "min", name == "max":
			case harmless[pkgPath], strings.HasPrefix(name, "(time.Time)."), strings.HasPrefix(name, "(time.Duration)."):
			case name == "fmt.Sprintf", name == "fmt.Sprint", name == "slices.Contains", name == "slices.Clone":
			default:
				ok = false
			}
		}
		return ok
	})
	return ok
}
