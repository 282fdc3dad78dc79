// Package regexp is RegExp with all of ECMAScript's patterns (ECMA-262, section
// 22.2): what goja's own matcher lacks is matched by internal/regex.
package regexp

import (
	"errors"
	"strings"
	"sync"
	"unicode/utf16"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/internal/insides/texts"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	gojafile "github.com/dop251/goja/file"

	"minido.dev/minido/internal/regex"
	"minido.dev/minido/runtime/webidl"
)

// foreign is what hangs on a regular expression that goja cannot run, or not as
// ECMAScript has it (regex.Pattern.Foreign, and those with the flag d): to goja it
// is /(?:)/ with what it knows of the flags, and an object that code has changed,
// so that its methods ask exec, which is ours. Without a pattern it has become an
// ordinary one again.
type foreign struct {
	source  goja.Value // as it would stand in a literal
	flags   string     // sorted
	pattern *regex.Pattern
}

func (f *foreign) has(flag string) bool { return strings.Contains(f.flags, flag) }

// patternKey is a pattern with its flags, as the user wrote them.
type patternKey struct{ source, flags string }

// compiledPattern is a regular expression that user code never sees: goja
// makes others from it without compiling again.
type compiledPattern struct {
	object  *goja.Object
	foreign *foreign // what hangs on those made from it, each its own; nil for ordinary ones
}

// Class is loop-confined; compiled is bounded by maxCompiled.
type Class struct {
	*webidl.Realm

	Ctor      *goja.Object
	Proto     *goja.Object
	exec      *goja.Object // RegExp.prototype.exec, as it was
	steps     *goja.Object // the methods of regexpsteps.js, nil until they are needed
	construct goja.Constructor
	compiled  map[patternKey]compiledPattern
	matcher   regex.Matcher
	last      lastMatch
	stepping  int // how many of goja's methods that move through a text are on the stack
}

const maxCompiled = 500

// sharedPatterns serves the isolates of this process. An entry is a function of
// its key alone.
var sharedPatterns literals

// literals are patterns, and programs that consist of one literal: any runtime
// makes regular expressions from them without compiling again, which takes 10 ms
// for a pattern as large as validators have. Safe for concurrent use.
type literals struct {
	mu   sync.Mutex            // guards made
	made map[patternKey]shared // at most maxCompiled, of at most maxShared bytes
}

// shared is a valid pattern; program is nil if goja cannot compile it, or is not to.
type shared struct {
	pattern *regex.Pattern
	program *goja.Program
}

const maxShared = 4 << 10

// get parses and compiles a pattern, which shows itself as shown, once for those
// that are not too long. The error is a regex.SyntaxError.
func (l *literals) get(key patternKey, units []uint16, shown string, keep bool) (s shared, err error) {
	if keep = keep && len(key.source) <= maxShared; keep {
		l.mu.Lock()
		s, known := l.made[key]
		l.mu.Unlock()
		if known {
			return s, nil
		}
	}
	if s.pattern, err = regex.Parse(units, key.flags); err != nil || !keep {
		return s, err
	}
	if !isForeign(s.pattern, key.flags) {
		literal := &ast.RegExpLiteral{Idx: 1, Pattern: shown, Flags: key.flags}
		s.program, err = goja.CompileAST(&ast.Program{
			Body: []ast.Statement{&ast.ExpressionStatement{Expression: literal}}, File: gojafile.NewFile("", shown, 1),
		}, true)
		if err != nil {
			return shared{pattern: s.pattern}, nil // goja's constructor says why
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil || len(l.made) >= maxCompiled {
		l.made = map[patternKey]shared{}
	}
	l.made[key] = s
	return s, nil
}

func isForeign(pattern *regex.Pattern, flags string) bool {
	return strings.Contains(flags, "d") || pattern.Foreign()
}

// New makes the class; Install defines it.
func New(r *webidl.Realm) *Class { return &Class{Realm: r} }

// Install replaces the RegExp constructor by one that knows all of
// ECMAScript's patterns. Literals are not affected: the bundle turns those that
// need it into constructor calls. RegExp.prototype stays goja's, and with it
// the fast paths of match, replace and split.
func (p *Class) Install() {
	original := p.Engine.Primordial("RegExp")
	p.construct, _ = goja.AssertConstructor(original)
	p.compiled = map[patternKey]compiledPattern{}
	p.matcher.Look = p.Engine.Natives.Pause
	p.Proto = original.Get("prototype").(*goja.Object)
	p.Ctor = p.VM.ToValue(p.newRegExp).(*goja.Object)
	insides.Amend(p.Ctor, func(c goja.FunctionCall, _ func(goja.FunctionCall) goja.Value) goja.Value {
		return p.regexpOf(c.Argument(0), c.Argument(1), true)
	})
	for _, name := range original.GetOwnPropertyNames() {
		if name != "prototype" && name != "name" && name != "length" {
			p.Ctor.DefineDataProperty(name, original.Get(name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
	p.Ctor.DefineDataProperty("name", p.VM.ToValue("RegExp"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	p.Ctor.DefineDataProperty("length", p.VM.ToValue(2), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	p.Ctor.DefineDataProperty("prototype", p.Proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	p.Ctor.DefineAccessorPropertySymbol(goja.SymSpecies, p.Engine.Func("get [Symbol.species]", 0, func(call goja.FunctionCall) goja.Value {
		return call.This
	}), nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	p.Proto.DefineDataProperty("constructor", p.Ctor, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	p.Engine.Global("RegExp", p.Ctor)
	p.regexpGetters()
	p.regexpMethods()
	p.legacyStatics()
}

// ForeignOf is what hangs on v, nil for an ordinary regular expression.
func (p *Class) ForeignOf(v goja.Value) *foreign {
	if insides.StandardRegExp(v) {
		return nil
	}
	f, _ := p.Engine.Attached(v).(*foreign)
	return f
}

// regexpGetters makes source and flags show what the user wrote, and adds the
// getters of flags that goja lacks.
func (p *Class) regexpGetters() {
	proto := p.Proto
	getter := func(name string, fn func(this goja.Value) goja.Value) {
		proto.DefineAccessorProperty(name, p.Engine.Func("get "+name, 0, func(call goja.FunctionCall) goja.Value { return fn(call.This) }),
			nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	getter("source", func(this goja.Value) goja.Value {
		if f := p.ForeignOf(this); f != nil {
			return f.source
		}
		return p.ordinarySource(this)
	})
	getter("flags", p.flagsOf)
	proto.DefineDataProperty("toString", p.Engine.Func("toString", 0, func(call goja.FunctionCall) goja.Value {
		obj, ok := call.This.(*goja.Object)
		if !ok {
			p.Engine.Throw("TypeError", "Method RegExp.prototype.toString called on incompatible receiver %s", p.Engine.Text(call.This))
		}
		slash := p.Engine.String("/")
		return slash.Concat(stringOf(webidl.Get(obj, "source"))).Concat(slash).Concat(stringOf(webidl.Get(obj, "flags")))
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	for name, flag := range map[string]string{"hasIndices": "d", "unicodeSets": "v"} { // order-independent: each is its own property
		getter(name, func(this goja.Value) goja.Value {
			obj, ok := this.(*goja.Object)
			if ok && obj == proto {
				return goja.Undefined()
			}
			if !ok || obj.ClassName() != "RegExp" {
				p.Engine.Throw("TypeError", "RegExp.prototype.%s getter called on non-RegExp object", name)
			}
			f := p.ForeignOf(obj)
			return p.VM.ToValue(f != nil && f.has(flag))
		})
	}
}

// flagsOf is get RegExp.prototype.flags (22.2.6.4).
func (p *Class) flagsOf(this goja.Value) goja.Value {
	if insides.StandardRegExp(this) {
		return p.Engine.Call(p.Engine.Primordial("RegExpPrototypeGetFlags"), goja.Undefined(), this)
	}
	obj, ok := this.(*goja.Object)
	if !ok {
		p.Engine.Throw("TypeError", "RegExp.prototype.flags getter called on non-object %s", p.Engine.Text(this))
	}
	var b strings.Builder
	for _, f := range [...]struct{ name, flag string }{{"hasIndices", "d"}, {"global", "g"}, {"ignoreCase", "i"}, {"multiline", "m"},
		{"dotAll", "s"}, {"unicode", "u"}, {"unicodeSets", "v"}, {"sticky", "y"}} {
		if webidl.Get(obj, f.name).ToBoolean() {
			b.WriteString(f.flag)
		}
	}
	return p.Engine.String(b.String())
}

// newRegExp is new RegExp(pattern, flags) (22.2.4.1).
func (p *Class) newRegExp(call goja.ConstructorCall) *goja.Object {
	made := p.regexpOf(call.Argument(0), call.Argument(1), false)
	if call.NewTarget != nil && call.NewTarget != p.Ctor {
		if proto, _ := call.NewTarget.Get("prototype").(*goja.Object); proto != nil {
			made.SetPrototype(proto)
		}
	}
	return made
}

// regexpOf is a regular expression of another, of what looks like one, or of a
// text. Called without new it may be the argument itself.
func (p *Class) regexpOf(pattern, flags goja.Value, called bool) *goja.Object {
	obj, _ := pattern.(*goja.Object)
	isRegExp := obj != nil && obj.ClassName() == "RegExp"
	likeOne := isRegExp
	if obj != nil {
		if matcher := obj.GetSymbol(goja.SymMatch); !webidl.IsUndefined(matcher) {
			likeOne = matcher.ToBoolean()
		}
	}
	if called && likeOne && goja.IsUndefined(flags) && webidl.Get(obj, "constructor") == goja.Value(p.Ctor) {
		return obj
	}
	switch {
	case isRegExp:
		source, shown := p.Written(obj)
		pattern = source
		if goja.IsUndefined(flags) {
			flags = p.VM.ToValue(shown)
		}
	case likeOne:
		pattern = webidl.Get(obj, "source")
		if goja.IsUndefined(flags) {
			flags = webidl.Get(obj, "flags")
		}
	}
	return p.makeRegExp(textUnless(pattern), textUnless(flags).String())
}

// textUnless is ToString(v), or "" for undefined.
func textUnless(v goja.Value) goja.String {
	if goja.IsUndefined(v) {
		return goja.StringFromUTF16(nil)
	}
	return stringOf(v)
}

// stringOf is ToString(v).
func stringOf(v goja.Value) goja.String {
	if s, ok := v.ToString().(goja.String); ok {
		return s
	}
	return goja.StringFromUTF16(utf16.Encode([]rune(v.String()))) // null and undefined are what goja makes of them
}

// ordinarySource is the source of a regular expression that is goja's. Its own getter
// escapes a slash that stands in a class.
func (p *Class) ordinarySource(re goja.Value) goja.Value {
	if obj, ok := re.(*goja.Object); ok {
		if text := insides.RegExpText(obj); text != nil {
			return escapeSource(text)
		}
	}
	return p.Engine.Call(p.Engine.Primordial("RegExpPrototypeGetSource"), goja.Undefined(), re)
}

// Written is a regular expression's source and flags, whatever its properties are.
func (p *Class) Written(re *goja.Object) (source goja.Value, flags string) {
	if f := p.ForeignOf(re); f != nil {
		return f.source, f.flags
	}
	return p.ordinarySource(re), p.Engine.Call(p.Engine.Primordial("RegExpPrototypeGetFlags"), goja.Undefined(), re).String()
}

// makeRegExp makes a regular expression of RegExp's own.
func (p *Class) makeRegExp(text goja.String, flags string) *goja.Object {
	key := patternKey{text.String(), flags}
	c, known := p.compiled[key]
	if !known {
		c = p.compileRegExp(text, key)
		if key.wellFormed() {
			if len(p.compiled) >= maxCompiled {
				clear(p.compiled)
			}
			p.compiled[key] = c
		}
	}
	obj := p.constructRegExp(c.object, goja.Undefined())
	if c.foreign != nil {
		own := *c.foreign
		p.Engine.Attach(obj, &own)
		obj.SetPrototype(p.Proto) // which makes goja's methods ask exec
	}
	return obj
}

// wellFormed says that no lone surrogate may have become a U+FFFD.
func (key patternKey) wellFormed() bool { return !strings.ContainsRune(key.source, '\uFFFD') }

// codeUnits are those of a string.
func codeUnits(s goja.String) []uint16 {
	ascii, units := texts.Text(s)
	for _, c := range ascii {
		units = append(units, uint16(c))
	}
	return units
}

// compileRegExp makes the regular expression that others are made from.
func (p *Class) compileRegExp(text goja.String, key patternKey) compiledPattern {
	if !regex.ParseFlags(key.flags) {
		p.Engine.Throw("SyntaxError", "Invalid flags supplied to RegExp constructor '%s'", key.flags)
	}
	source := escapeSource(text)
	s, err := sharedPatterns.get(key, codeUnits(text), source.String(), key.wellFormed())
	if err != nil {
		p.Engine.Throw("SyntaxError", "Invalid regular expression: /%s/%s: %v", key.source, key.flags, err)
	}
	if isForeign(s.pattern, key.flags) {
		known := strings.NewReplacer("d", "", "v", "").Replace(key.flags)
		shown := &foreign{source: source, flags: sortFlags(key.flags), pattern: s.pattern}
		return compiledPattern{p.constructRegExp(p.Engine.String("(?:)"), p.VM.ToValue(known)), shown}
	}
	// A program that is not within another one would run promise jobs at its end.
	if s.program == nil || len(p.VM.CaptureCallStack(1, nil)) == 0 {
		return compiledPattern{object: p.constructRegExp(source, p.VM.ToValue(key.flags))}
	}
	value, err := p.VM.RunProgram(s.program)
	if err != nil {
		p.Engine.Rethrow(err) // an interrupt
	}
	return compiledPattern{object: value.(*goja.Object)}
}

// constructRegExp calls goja's constructor. What it refuses of a valid pattern gets
// the form of V8's messages.
func (p *Class) constructRegExp(pattern, flags goja.Value) *goja.Object {
	obj, err := p.construct(p.Ctor, pattern, flags)
	if err == nil {
		return obj
	}
	var ex *goja.Exception
	if errors.As(err, &ex) && webidl.Get(ex.Value(), "name").String() == "SyntaxError" {
		p.Engine.Throw("SyntaxError", "Invalid regular expression: /%s/%s: %s", p.Engine.Text(pattern), p.Engine.Text(flags), webidl.Get(ex.Value(), "message"))
	}
	p.Engine.Rethrow(err)
	return nil
}

// escapeSource is EscapeRegExpPattern: the source as it would stand in a literal.
func escapeSource(source goja.String) goja.Value {
	if source.Length() == 0 {
		return goja.StringFromUTF16([]uint16{'(', '?', ':', ')'})
	}
	var out []uint16
	inClass := false
	for i, n := 0, source.Length(); i < n; i++ {
		c := source.CharAt(i)
		escaped := c == '\\' && i+1 < n
		if escaped {
			i++
			c = source.CharAt(i)
		}
		ends := c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029
		if escaped || ends || c == '/' && !inClass {
			out = append(out, '\\')
		}
		switch {
		case c == '[' && !escaped:
			inClass = true
		case c == ']' && !escaped:
			inClass = false
		case c == '\n':
			c = 'n'
		case c == '\r':
			c = 'r'
		case ends:
			out, c = append(out, 'u', '2', '0', '2'), '8'+c-0x2028
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

// Source is the pattern of a regular expression and its flags as the user wrote
// them, for package clone; ok is false for what goja has itself.
func (p *Class) Source(re *goja.Object) (source goja.Value, flags string, ok bool) {
	f := p.ForeignOf(re)
	if f == nil {
		return nil, "", false
	}
	return f.source, f.flags, true
}

// Remake makes a regular expression that was cloned.
func (p *Class) Remake(source goja.Value, flags string) (obj *goja.Object, err error) {
	if ctor := p.Ctor; ctor != nil {
		return p.VM.New(ctor, source, p.VM.ToValue(flags))
	}
	return p.VM.New(p.Engine.Primordial("RegExp"), source, p.VM.ToValue(flags))
}
