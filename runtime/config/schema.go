package config

import (
	"fmt"
	"sort"
	"strings"
)

// types is a set of kinds that a value may have.
type types uint8

const (
	tString types = 1 << iota
	tNumber
	tBool
	tArray
	tObject
	tNull
	tDate

	tAny = tString | tNumber | tBool | tArray | tObject | tNull | tDate
)

// of returns the set that holds just k.
func (k kind) types() types {
	return [...]types{tNull, tBool, tNumber, tString, tArray, tObject, tDate}[k]
}

// describe renders the set: "a string or an array".
func (t types) describe() string {
	var names []string
	for _, k := range []kind{kindString, kindNumber, kindBool, kindArray, kindObject} {
		if t&k.types() != 0 {
			names = append(names, k.describe())
		}
	}
	return strings.Join(names, " or ")
}

// schema says what a value may look like. Schemas are package data: immutable
// after initialisation.
type schema struct {
	types types
	// fields are the known members of an object, by name. With open, others
	// are accepted silently; without, they warn.
	fields map[string]field
	open   bool
	// elem is the schema of array elements and, for an object without fields,
	// of its values.
	elem *schema
	// enum lists the accepted strings, numbers the accepted numbers; unit is what
	// these count, for messages.
	enum    []string
	numbers []float64
	unit    string
	// each runs after the shape is known to be right.
	each func(c *checker, path string, n *node)
}

// field is a member that an object may or must have.
type field struct {
	schema   *schema
	required bool
}

var (
	aString  = &schema{types: tString}
	aBool    = &schema{types: tBool}
	aNumber  = &schema{types: tNumber}
	anything = &schema{types: tAny}
	// anyObject is for parts that minido carries but does not look into.
	anyObject = &schema{types: tObject, open: true}
	strings1  = listOf(aString)
)

// object makes the schema of an object. A name that ends with "!" is required.
func object(fields map[string]*schema) *schema {
	s := &schema{types: tObject, fields: make(map[string]field, len(fields))}
	for name, fs := range fields { // order-independent: "x" and "x!" never stand side by side
		bare, required := strings.CutSuffix(name, "!")
		s.fields[bare] = field{schema: fs, required: required}
	}
	return s
}

func listOf(elem *schema) *schema { return &schema{types: tArray, elem: elem} }
func mapOf(elem *schema) *schema  { return &schema{types: tObject, elem: elem} }
func oneOf(values ...string) *schema {
	return &schema{types: tString, enum: values}
}

// or returns a copy of s that also admits t.
func (s *schema) or(t types) *schema {
	c := *s
	c.types |= t
	return &c
}

// with returns a copy of s that also runs each.
func (s *schema) with(each func(c *checker, path string, n *node)) *schema {
	c := *s
	c.each = each
	return &c
}

// names returns the known members, sorted.
func (s *schema) names() []string {
	out := make([]string, 0, len(s.fields))
	for name := range s.fields {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// checker checks the trees of one project. Owned by one Load.
type checker struct {
	rep *report
	// elsewhere explains keys that are known, but not where they stand.
	elsewhere func(path, key string) string
	// generated is a file of a build tool, which may still write keys that wrangler drops.
	generated bool
}

// check reports whether n fits s; what does not fit is reported. Unknown keys
// are warnings and fit.
func (c *checker) check(path string, n *node, s *schema) bool {
	if n.kind.types()&s.types == 0 {
		hint := ""
		if n.kind == kindDate && s.types&tString != 0 {
			hint = fmt.Sprintf("put it in quotes: %q", n.text)
		}
		c.rep.errorAt(n, hint, "%q must be %s, but is %s", path, s.types.describe(), n.brief())
		return false
	}
	ok := true
	switch n.kind {
	case kindString:
		ok = c.checkEnum(path, n, s)
	case kindNumber:
		ok = c.checkNumbers(path, n, s)
	case kindArray:
		if s.elem != nil {
			for i, item := range n.items {
				ok = c.check(fmt.Sprintf("%s[%d]", path, i), item, s.elem) && ok
			}
		}
	case kindObject:
		ok = c.checkObject(path, n, s)
	}
	if ok && s.each != nil {
		s.each(c, path, n)
	}
	return ok
}

func (c *checker) checkEnum(path string, n *node, s *schema) bool {
	if s.enum == nil {
		return true
	}
	for _, v := range s.enum {
		if n.text == v {
			return true
		}
	}
	c.rep.errorAt(n, didYouMean(n.text, s.enum), "%q must be one of %s, but is %s", path, quoted(s.enum), n.brief())
	return false
}

func (c *checker) checkObject(path string, n *node, s *schema) bool {
	ok := true
	for _, m := range n.members {
		full := join(path, m.key)
		switch f, known := s.fields[m.key]; {
		case known:
			ok = c.check(full, m, f.schema) && ok
		case s.fields == nil && s.elem != nil:
			ok = c.check(full, m, s.elem) && ok
		case s.open || s.fields == nil:
		default:
			c.unknown(path, m, s)
		}
	}
	for _, name := range s.names() {
		if s.fields[name].required && n.get(name) == nil {
			c.rep.errorAt(n, "", "%s needs a %q", orFile(path), name)
			ok = false
		}
	}
	return ok
}

// unknown warns about a key that the schema does not know.
func (c *checker) unknown(path string, m *node, s *schema) {
	names := s.names()
	hint := didYouMean(m.key, names)
	if c.elsewhere != nil {
		if other := c.elsewhere(path, m.key); other != "" {
			hint = other
		}
	}
	if hint == "" && len(names) <= 12 {
		hint = "known here: " + strings.Join(names, ", ")
	}
	switch text := refusedKeys[m.key]; {
	case text == "" || path != "" && (m.key != "node_compat" || s != wranglerFile().environment):
	case c.generated && m.key == "legacy_env":
		return
	default:
		c.rep.errorAt(m, hint, "%s", text)
		return
	}
	if path == "" {
		c.rep.warnAt(m, hint, "unknown key %q, ignored", m.key)
		return
	}
	c.rep.warnAt(m, hint, "unknown key %q in %q, ignored", m.key, path)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func orFile(path string) string {
	if path == "" {
		return "the file"
	}
	return fmt.Sprintf("%q", path)
}

// quoted renders a list for a sentence: "a", "b" or "c".
func quoted(values []string) string {
	var b strings.Builder
	for i, v := range values {
		switch {
		case i > 0 && i == len(values)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", v)
	}
	return b.String()
}
