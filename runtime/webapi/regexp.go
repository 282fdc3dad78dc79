package webapi

import (
	"errors"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	gojafile "github.com/dop251/goja/file"
)

// patternSource is what a translated regular expression shows of itself.
type patternSource struct {
	source goja.Value
	flags  string
}

// patternKey is a pattern with its flags, as the user wrote them.
type patternKey struct{ source, flags string }

// compiledPattern is a regular expression that user code never sees: goja
// makes others from it without compiling again.
type compiledPattern struct {
	object     *goja.Object
	translated bool
}

// regexpState is loop-confined; compiled is bounded by maxCompiled.
type regexpState struct {
	ctor      *goja.Object
	original  *goja.Object
	construct goja.Constructor
	compiled  map[patternKey]compiledPattern
}

const maxCompiled = 500

// sharedPatterns serves the isolates of this process. An entry is a function of
// its key alone.
var sharedPatterns literals

// literals are patterns as programs that consist of one literal: any runtime
// makes regular expressions from them without compiling again, which takes 10 ms
// for a pattern as large as validators have. Safe for concurrent use.
type literals struct {
	mu   sync.Mutex                   // guards made
	made map[patternKey]*goja.Program // at most maxCompiled, of at most maxShared bytes
}

const maxShared = 4 << 10

// get is the program of a pattern as goja takes it; nil if there is none, then
// goja's constructor says why.
func (l *literals) get(key patternKey) *goja.Program {
	if len(key.source) > maxShared {
		return nil
	}
	l.mu.Lock()
	program, known := l.made[key]
	l.mu.Unlock()
	if known {
		return program
	}
	literal := &ast.RegExpLiteral{Idx: 1, Pattern: key.source, Flags: key.flags}
	program, err := goja.CompileAST(&ast.Program{
		Body: []ast.Statement{&ast.ExpressionStatement{Expression: literal}}, File: gojafile.NewFile("", key.source, 1),
	}, true)
	if err != nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil || len(l.made) >= maxCompiled {
		l.made = map[patternKey]*goja.Program{}
	}
	l.made[key] = program
	return program
}

// installRegExp replaces the RegExp constructor by one that translates what
// goja does not know. Literals are not affected: the bundle turns those that
// need it into constructor calls. RegExp.prototype stays goja's, and with it
// the fast paths of match, replace and split.
func (p *Platform) installRegExp() {
	st := &p.core.regexp
	st.original = p.Engine.Primordial("RegExp")
	st.construct, _ = goja.AssertConstructor(st.original)
	st.compiled = map[patternKey]compiledPattern{}
	proto := st.original.Get("prototype").(*goja.Object)
	st.ctor = p.vm.ToValue(p.newRegExp).(*goja.Object)
	for _, name := range st.original.GetOwnPropertyNames() {
		if name != "prototype" && name != "name" && name != "length" {
			st.ctor.DefineDataProperty(name, st.original.Get(name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
	st.ctor.DefineDataProperty("name", p.vm.ToValue("RegExp"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	st.ctor.DefineDataProperty("length", p.vm.ToValue(2), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	st.ctor.DefineDataProperty("prototype", proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	st.ctor.DefineAccessorPropertySymbol(goja.SymSpecies, p.Engine.Func("get [Symbol.species]", 0, func(call goja.FunctionCall) goja.Value {
		return call.This
	}), nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	proto.DefineDataProperty("constructor", st.ctor, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	p.Engine.Global("RegExp", st.ctor)
	p.regexpGetters(proto)
}

// regexpGetters makes source and flags show what the user wrote, and adds the
// getters of flags that goja lacks.
func (p *Platform) regexpGetters(proto *goja.Object) {
	getter := func(name string, fn func(this goja.Value) goja.Value) {
		proto.DefineAccessorProperty(name, p.Engine.Func("get "+name, 0, func(call goja.FunctionCall) goja.Value { return fn(call.This) }),
			nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	source := p.Engine.Primordial("RegExpPrototypeGetSource")
	flags := p.Engine.Primordial("RegExpPrototypeGetFlags")
	getter("source", func(this goja.Value) goja.Value {
		if shown, ok := p.Engine.Attached(this).(*patternSource); ok {
			return shown.source
		}
		return p.Engine.Call(source, goja.Undefined(), this)
	})
	getter("flags", func(this goja.Value) goja.Value {
		if shown, ok := p.Engine.Attached(this).(*patternSource); ok {
			return p.vm.ToValue(shown.flags)
		}
		return p.Engine.Call(flags, goja.Undefined(), this)
	})
	toString := p.Engine.Primordial("RegExpPrototypeToString")
	proto.DefineDataProperty("toString", p.Engine.Func("toString", 0, func(call goja.FunctionCall) goja.Value {
		if shown, ok := p.Engine.Attached(call.This).(*patternSource); ok {
			return p.vm.ToValue("/" + shown.source.String() + "/" + shown.flags)
		}
		return p.Engine.Call(toString, goja.Undefined(), call.This)
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	getter("hasIndices", func(goja.Value) goja.Value { return p.vm.ToValue(false) })
	getter("unicodeSets", func(this goja.Value) goja.Value {
		shown, ok := p.Engine.Attached(this).(*patternSource)
		return p.vm.ToValue(ok && strings.Contains(shown.flags, "v"))
	})
}

// newRegExp is RegExp(pattern, flags), with and without new.
func (p *Platform) newRegExp(call goja.ConstructorCall) *goja.Object {
	st := &p.core.regexp
	newTarget := call.NewTarget
	pattern, flags := call.Argument(0), call.Argument(1)
	if newTarget == nil {
		newTarget = st.ctor
		if obj, ok := pattern.(*goja.Object); ok && goja.IsUndefined(flags) && obj.ClassName() == "RegExp" && obj.Get("constructor") == st.ctor {
			return obj
		}
	}
	if shown, ok := p.Engine.Attached(pattern).(*patternSource); ok {
		pattern = shown.source
		if goja.IsUndefined(flags) {
			flags = p.vm.ToValue(shown.flags)
		}
	}
	text, isString := pattern.(goja.String)
	if !isString {
		return p.constructRegExp(newTarget, pattern, pattern, flags)
	}
	key := patternKey{source: text.String()}
	if !goja.IsUndefined(flags) {
		key.flags = flags.String()
	}
	c, known := st.compiled[key]
	if !known {
		c = p.compileRegExp(text, key)
		// A lone surrogate reads as U+FFFD in the key.
		if !strings.ContainsRune(key.source, '\uFFFD') {
			if len(st.compiled) >= maxCompiled {
				clear(st.compiled)
			}
			st.compiled[key] = c
		}
	}
	obj := p.constructRegExp(st.ctor, text, c.object, goja.Undefined())
	if newTarget != st.ctor {
		proto, _ := newTarget.Get("prototype").(*goja.Object)
		if proto != nil {
			obj.SetPrototype(proto)
		}
	}
	if c.translated {
		p.Engine.Attach(obj, &patternSource{source: escapeSource(text), flags: sortFlags(key.flags)})
	}
	return obj
}

// compileRegExp makes the regular expression that others are made from.
func (p *Platform) compileRegExp(text goja.String, key patternKey) compiledPattern {
	flags := key.flags
	if strings.Contains(flags, "d") {
		p.Engine.Throw("SyntaxError", "Invalid flags supplied to RegExp constructor '%s': minido does not support d (match indices); search with exec() and compute them from index", flags)
	}
	if strings.Contains(flags, "u") && strings.Contains(flags, "v") {
		p.Engine.Throw("SyntaxError", "Invalid flags supplied to RegExp constructor '%s'", flags)
	}
	var pattern goja.Value = text
	translated := needsTranslation(key.source, flags)
	if translated {
		out, err := translatePattern(text, flags)
		if err != nil {
			p.Engine.Throw("SyntaxError", "Invalid regular expression: /%s/%s: %v", key.source, flags, err)
		}
		pattern = p.vm.ToValue(out)
		flags = strings.Replace(flags, "v", "u", 1)
	}
	if obj := p.sharedRegExp(pattern.String(), flags); obj != nil {
		return compiledPattern{object: obj, translated: translated}
	}
	return compiledPattern{object: p.constructRegExp(p.core.regexp.ctor, text, pattern, p.vm.ToValue(flags)), translated: translated}
}

// sharedRegExp makes a regular expression from what this process has compiled
// before; nil if goja's constructor has to do it.
func (p *Platform) sharedRegExp(pattern, flags string) *goja.Object {
	// A program that is not within another one would run promise jobs at its end.
	if len(p.vm.CaptureCallStack(1, nil)) == 0 || strings.ContainsRune(pattern, '\uFFFD') { // see newRegExp
		return nil
	}
	program := sharedPatterns.get(patternKey{pattern, flags})
	if program == nil {
		return nil
	}
	value, err := p.vm.RunProgram(program)
	if err != nil {
		p.Engine.Rethrow(err) // an interrupt
	}
	return value.(*goja.Object)
}

// constructRegExp calls goja's constructor; shown is the pattern for messages,
// which it gives V8's form.
func (p *Platform) constructRegExp(newTarget *goja.Object, shown, pattern, flags goja.Value) *goja.Object {
	obj, err := p.core.regexp.construct(newTarget, pattern, flags)
	if err == nil {
		return obj
	}
	var ex *goja.Exception
	if errors.As(err, &ex) && get(ex.Value(), "name").String() == "SyntaxError" {
		if message := get(ex.Value(), "message").String(); !strings.HasPrefix(message, "Invalid flags") {
			if isUndefined(flags) {
				flags = p.vm.ToValue("")
			}
			p.Engine.Throw("SyntaxError", "Invalid regular expression: /%s/%s: %s", p.Engine.Text(shown), p.Engine.Text(flags), message)
		}
	}
	p.Engine.Rethrow(err)
	return nil
}

// escapeSource is EscapeRegExpPattern: the source as it would stand in a literal.
func escapeSource(source goja.String) goja.Value {
	var out []uint16
	inClass := false
	for i, n := 0, source.Length(); i < n; i++ {
		c := source.CharAt(i)
		switch {
		case c == '\\' && i+1 < n:
			out = append(out, c)
			i++
			c = source.CharAt(i)
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			out = append(out, '\\')
		case c == '\n':
			out, c = append(out, '\\'), 'n'
		case c == '\r':
			out, c = append(out, '\\'), 'r'
		}
		out = append(out, c)
	}
	return goja.StringFromUTF16(out)
}

func sortFlags(flags string) string {
	var b strings.Builder
	for _, f := range "dgimsuvy" {
		if strings.ContainsRune(flags, f) {
			b.WriteRune(f)
		}
	}
	return b.String()
}

// regExpSource and makeRegExp let package clone see patterns as users wrote them.
func (p *Platform) regExpSource(re *goja.Object) (source goja.Value, flags string, ok bool) {
	shown, ok := p.Engine.Attached(re).(*patternSource)
	if !ok {
		return nil, "", false
	}
	return shown.source, shown.flags, true
}

func (p *Platform) makeRegExp(source goja.Value, flags string) (obj *goja.Object, err error) {
	if ctor := p.core.regexp.ctor; ctor != nil {
		return p.vm.New(ctor, source, p.vm.ToValue(flags))
	}
	return p.vm.New(p.Engine.Primordial("RegExp"), source, p.vm.ToValue(flags))
}
