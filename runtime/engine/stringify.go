package engine

import (
	"reflect"
	"strconv"

	"github.com/dop251/goja"
)

// JSON.stringify recurses natively, and an object that holds another one twice,
// which holds another one twice, and so on, makes a text without end. A replacer
// is asked about each value: one of our own, that counts, and that calls the
// user's if there is one.

// stringifier is one call of JSON.stringify.
type stringifier struct {
	e       *Engine
	path    []*goja.Object // from the root's holder to the value's
	size    int64          // of the text, from below
	indent  int64          // of each level
	values  int
	user    function
	allowed []string                      // the names of a list of properties, nil if there is none
	listed  map[*goja.Object]*goja.Object // objects with these alone
}

func (e *Engine) guardStringify() {
	e.wrap(e.vm.Get("JSON").(*goja.Object), "stringify", func(c goja.FunctionCall, method function) goja.Value {
		if _, ok := c.Argument(0).(*goja.Object); !ok {
			return method(c)
		}
		s := &stringifier{e: e}
		if space := c.Argument(2); !goja.IsUndefined(space) {
			s.indent = 10
		}
		if replacer, ok := c.Argument(1).(*goja.Object); ok {
			s.replacer(replacer)
		}
		outer := e.stringifying
		e.stringifying = s
		defer func() { e.stringifying = outer }()
		return method(goja.FunctionCall{This: c.This, Arguments: []goja.Value{c.Argument(0), e.stringifyReplacer, c.Argument(2)}})
	})
	e.stringifyReplacer = e.vm.ToValue(func(c goja.FunctionCall) goja.Value { return e.stringifying.value(c) })
}

// replacer takes the user's apart (25.5.2, steps 4 and 5).
func (s *stringifier) replacer(replacer *goja.Object) {
	if call, ok := goja.AssertFunction(replacer); ok {
		s.user = func(c goja.FunctionCall) goja.Value {
			v, err := call(c.This, c.Arguments...)
			if err != nil {
				s.e.Rethrow(err)
			}
			return v
		}
		return
	}
	if !s.e.isArray(replacer) {
		return
	}
	n := s.e.arrayLength(replacer)
	if n > MaxElements {
		s.e.Throw("RangeError", badArrayLength)
	}
	seen := map[string]bool{}
	s.allowed, s.listed = []string{}, map[*goja.Object]*goja.Object{}
	for i := range int(n) {
		item := replacer.Get(strconv.Itoa(i))
		if item == nil || !isName(item) {
			continue
		}
		if name := item.String(); !seen[name] {
			seen[name] = true
			s.allowed = append(s.allowed, name)
		}
	}
}

// isName reports whether an item of a list of properties counts.
func isName(item goja.Value) bool {
	if o, ok := item.(*goja.Object); ok {
		return o.ClassName() == "Number" || o.ClassName() == "String"
	}
	switch t := item.ExportType(); t.Kind() {
	case reflect.String, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// value is what stands for the value of a key.
func (s *stringifier) value(c goja.FunctionCall) goja.Value {
	holder := c.This.(*goja.Object)
	for len(s.path) > 0 && s.path[len(s.path)-1] != holder {
		s.path = s.path[:len(s.path)-1]
	}
	if len(s.path) == 0 {
		s.path = append(s.path, holder)
	}
	if s.values++; s.values%1024 == 0 {
		s.e.natives.look()
	}
	v := c.Arguments[1]
	if s.user != nil {
		v = s.user(c)
	}
	s.size += 2 + int64(len(s.path))*s.indent
	switch o := v.(type) {
	case goja.String:
		s.size += int64(o.Length())
	case *goja.Object:
		if len(s.path) > maxNesting {
			s.e.Throw("RangeError", stackExceeded)
		}
		if s.allowed != nil {
			o = s.list(o)
			v = o
		}
		s.path = append(s.path, o)
	}
	if s.size > MaxValueBytes {
		s.e.Throw("RangeError", badStringLength)
	}
	return v
}

// list is an object with the listed properties of o alone, the same one each
// time, so that a circle stays one.
func (s *stringifier) list(o *goja.Object) *goja.Object {
	if _, callable := goja.AssertFunction(o); callable || o.ClassName() != "Object" || s.e.isArray(o) {
		return o
	}
	if l := s.listed[o]; l != nil {
		return l
	}
	l := s.e.vm.CreateObject(nil)
	s.listed[o] = l
	for _, name := range s.allowed {
		if v := o.Get(name); v != nil {
			l.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		}
	}
	return l
}
