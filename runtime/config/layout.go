package config

import (
	"fmt"
	"sync"

	"minido.dev/minido/runtime/binding"
)

// layout is what a wrangler file may have, with the keys of every kind of binding.
type layout struct {
	// file and environment are the schemas of a whole file and of a named
	// environment.
	file, environment *schema
	// fileOnly are the keys that an environment cannot have, notInherited those
	// that it does not take from the top level.
	fileOnly, notInherited map[string]bool
}

// wranglerFile is made once. Immutable.
var wranglerFile = sync.OnceValue(func() *layout {
	l := &layout{fileOnly: map[string]bool{}, notInherited: map[string]bool{"cloudchamber": true, "define": true, "secrets": true}}
	environment, all := map[string]*schema{}, map[string]*schema{}
	for name, s := range environmentFields { // order-independent: a map of its own keys
		environment[name], all[name] = s, s
	}
	for name, s := range fileOnlyFields { // order-independent: a map of its own keys
		all[name], l.fileOnly[name] = s, true
	}
	for _, k := range binding.Kinds() {
		s := compile(k.Schema)
		all[k.Key] = s
		switch k.Scope {
		case binding.ScopeFile:
			l.fileOnly[k.Key] = true
			continue
		case binding.ScopeEnvironment:
			l.notInherited[k.Key] = true
		}
		environment[k.Key] = s
	}
	l.environment, l.file = object(environment), object(all)
	return l
})

// compile turns the schema of a kind into one that the checker runs.
func compile(from *binding.Schema) *schema {
	s := &schema{open: from.Properties == nil || from.AdditionalProperties != nil && from.AdditionalProperties.Any}
	for _, name := range from.Type {
		s.types |= typeNames[name]
	}
	if from.Type == nil {
		s.types = tAny
	}
	if from.Properties != nil {
		s.fields = map[string]field{}
		for name, p := range from.Properties { // order-independent: a map of its own keys
			s.fields[name] = field{schema: compile(p)}
		}
		for _, name := range from.Required {
			f := s.fields[name]
			f.required = true
			s.fields[name] = f
		}
	}
	switch {
	case from.Items != nil:
		s.elem = compile(from.Items)
	case from.AdditionalProperties != nil && from.AdditionalProperties.Schema != nil:
		s.elem = compile(from.AdditionalProperties.Schema)
	}
	for _, v := range from.Enum {
		switch v := v.(type) {
		case string:
			s.enum = append(s.enum, v)
		case float64:
			s.numbers, s.unit = append(s.numbers, v), from.Unit
		}
	}
	if from.Format != "" {
		s.each = formats[from.Format].each
	}
	return s
}

var typeNames = map[string]types{"string": tString, "number": tNumber, "boolean": tBool, "array": tArray, "object": tObject, "null": tNull}

// formats are the checks that a kind's schema can name.
var formats = map[string]*schema{"binding-name": bindingName, "class-name": className, "script-name": scriptName, "bucket-name": bucketName, "json": jsonValue}

// checkNumbers reports a number that is none of those that s lists.
func (c *checker) checkNumbers(path string, n *node, s *schema) bool {
	if s.numbers == nil {
		return true
	}
	list, unit := "", ""
	for i, v := range s.numbers {
		switch {
		case n.number(0) == v:
			return true
		case i > 0 && i == len(s.numbers)-1:
			list += " or "
		case i > 0:
			list += ", "
		}
		list += fmt.Sprint(v)
	}
	if s.unit != "" {
		unit = " (" + s.unit + ")"
	}
	c.rep.errorAt(n, "", "%q must be %s%s, but is %s", path, list, unit, n.brief())
	return false
}
