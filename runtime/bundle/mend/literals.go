package mend

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
)

// goja assigns what has a computed key in an object literal, where it has to be defined
// (ECMA-262, section 13.2.5.5): behind an accessor of the same name in the literal
// that fails, or calls the setter. There it is spread from an object of its own, and so
// is what was an async generator: the helper around it keeps it from getting its name.

// OwnHelper makes that object.
const OwnHelper = "$own"

// keepClassName mends a property with a computed key that holds a class: goja names the
// class by the key, also if it has a name.
func keepClassName(n *ast.PropertyKeyed) {
	if c, ok := n.Value.(*ast.ClassLiteral); ok && n.Computed && c.Name != nil {
		n.Value = &ast.SequenceExpression{Sequence: []ast.Expression{c}}
	}
}

// mayHaveAccessor finds code with an accessor and, after it, a computed key. It is asked
// of every file of every package, and two searches take a tenth of a regular expression's
// time.
func mayHaveAccessor(code string) bool {
	key := strings.LastIndex(code, "]: ")
	for at := 0; key >= 0; at++ {
		i := strings.Index(code[at:key], "et ")
		if i < 0 {
			return false
		}
		at += i
		if at == 0 || code[at-1] != 'g' && code[at-1] != 's' || at > 1 && isWord(code[at-2]) {
			continue
		}
		if next := at + len("et "); next < key && (isWord(code[next]) || strings.IndexByte("$#\"'[", code[next]) >= 0) {
			return true
		}
	}
	return false
}

// mayHaveAsync finds a function under a computed key; prologue says whether there was an
// async generator.
func mayHaveAsync(prologue, code string) bool {
	return hasAsync(prologue) && strings.Contains(code, "]: function(")
}

// isWord reports whether a byte is one of \w in a regular expression.
func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// defineComputed mends an object literal.
func (m mender) defineComputed(n *ast.ObjectLiteral) {
	accessor := slices.IndexFunc(n.Value, func(p ast.Property) bool {
		keyed, ok := p.(*ast.PropertyKeyed)
		return ok && (keyed.Kind == ast.PropertyKindGet || keyed.Kind == ast.PropertyKindSet)
	})
	for i := range n.Value {
		keyed, ok := n.Value[i].(*ast.PropertyKeyed)
		if !ok || !keyed.Computed || keyed.Kind != ast.PropertyKindValue || (accessor < 0 || i < accessor) && !(m.async && isNamelessAsync(keyed.Value)) {
			continue
		}
		args := []ast.Expression{keyed.Key, keyed.Value}
		if isNameless(keyed.Value) {
			args = append(args, &ast.BooleanLiteral{Idx: keyed.Key.Idx0(), Value: true})
		}
		n.Value[i] = &ast.SpreadElement{Expression: call(OwnHelper, args...)}
	}
}
