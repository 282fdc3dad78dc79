package inspect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// Mirror is what V8's inspector says of a value (Runtime.RemoteObject).
type Mirror struct {
	Type        string // typeof
	Subtype     string // null, array, error, promise and the like; "" for others
	Class       string // of objects: the name of the constructor
	Description string
}

// Member is a property, or what V8 shows in double brackets. Value is nil for
// accessors; Get and Set are nil if there is none. Symbol is nil for names.
type Member struct {
	Name                               string
	Symbol                             *goja.Symbol
	Value, Get, Set                    goja.Value
	Writable, Configurable, Enumerable bool
	Own                                bool
}

// maxMembers bounds the properties that are listed of one object.
const maxMembers = 20_000

// Mirror describes v as V8's inspector does. It runs none of the user's code but
// toString of errors' stacks. Loop-confined.
func (p *Console) Mirror(v goja.Value) (m Mirror) {
	obj, isObject := v.(*goja.Object)
	if !isObject {
		return p.mirrorPrimitive(v)
	}
	m = Mirror{Type: "object", Class: "Object", Description: "Object"}
	if engine.IsCallable(obj) {
		m.Type = "function"
	}
	if thrown := p.Engine.Try(func() { p.mirrorObject(&m, obj) }); thrown != nil {
		m.Description = m.Class
	}
	return m
}

func (p *Console) mirrorPrimitive(v goja.Value) Mirror {
	m := Mirror{Type: "undefined", Description: "undefined"}
	if v == nil || goja.IsUndefined(v) {
		return m
	}
	if goja.IsNull(v) {
		return Mirror{Type: "object", Subtype: "null", Description: "null"}
	}
	m.Type = builtin.TypeOf(p.Engine, v)
	switch m.Type {
	case "symbol":
		m.Description = p.inspectQuietly(v, defaultInspect())
	case "bigint":
		m.Description = v.String() + "n"
	case "number":
		if m.Description = v.String(); m.Description == "0" && 1/v.ToFloat() < 0 {
			m.Description = "-0"
		}
	default:
		m.Description = v.String()
	}
	return m
}

func (p *Console) mirrorObject(m *Mirror, obj *goja.Object) {
	in := &inspector{p: p, o: defaultInspect(), lenient: true}
	if proxy, ok := builtin.AsProxy(obj); ok {
		m.Subtype, m.Class = "proxy", "Object"
		if target := proxy.Target(); target != nil {
			m.Class = p.Mirror(target).Class
		}
		m.Description = "Proxy(" + m.Class + ")"
		return
	}
	if obj.ExportType() == webidl.ProxyType {
		m.Subtype, m.Description = "proxy", "Proxy"
		return
	}
	if m.Class = in.constructorName(obj, 0); m.Class == "" {
		m.Class = "Object"
	}
	m.Description = m.Class
	if m.Type == "function" {
		m.Class, m.Description = "Function", in.ask("FunctionPrototypeToString", obj).String()
		return
	}
	sized := func(subtype string, n goja.Value) { m.Subtype, m.Description = subtype, m.Class+"("+n.String()+")" }
	if t := in.ask("TypedArrayPrototypeGetTag", obj); !goja.IsUndefined(t) {
		sized("typedarray", obj.Get("length"))
		return
	}
	if webidl.IsArrayBuffer(obj) {
		sized("arraybuffer", obj.Get("byteLength"))
		return
	}
	kind := obj.ClassName()
	if kind == "Object" && m.Class != "Object" {
		kind = in.brand(obj)
	}
	switch {
	case kind == "Array":
		sized("array", obj.Get("length"))
	case kind == "Map" || kind == "Set":
		sized(strings.ToLower(kind), in.ask(kind+"PrototypeGetSize", obj))
	case kind == "WeakMap" || kind == "WeakSet" || kind == "DataView":
		m.Subtype = strings.ToLower(kind)
	case kind == "Map Iterator" || kind == "Set Iterator":
		m.Subtype = "iterator"
	case webidl.PromiseOf(obj) != nil:
		m.Subtype = "promise"
	case kind == "Error" || p.Engine.Errors.Is(obj):
		m.Subtype = "error"
		if stack := p.Engine.Errors.Stack(obj); stack != "" {
			m.Description = stack
		}
	case kind == "Date":
		m.Subtype = "date"
		m.Description = in.ask("DatePrototypeToString", obj).String()
	case kind == "RegExp":
		m.Subtype, m.Description = "regexp", in.regexpText(obj, m.Class)
	}
}

// Members are the properties of obj: its own, or with own unset those that it inherits
// too; accessors leaves those with values out. more is how many were too many. Getters
// are not called, and a proxy's traps neither. Loop-confined.
func (p *Console) Members(obj *goja.Object, own, accessors bool) (members []Member, more int) {
	in := &inspector{p: p, o: defaultInspect(), lenient: true}
	seen := map[string]bool{}
	for at := obj; at != nil && at.ExportType() != webidl.ProxyType; at = at.Prototype() {
		for _, key := range in.ownKeys(at) {
			symbol, _ := key.(*goja.Symbol)
			if symbol == nil {
				if seen[key.String()] {
					continue
				}
				seen[key.String()] = true
			}
			d := in.descriptor(at, key)
			if d == nil {
				continue
			}
			m := Member{Symbol: symbol, Own: at == obj, Configurable: d.Get("configurable").ToBoolean(), Enumerable: d.Get("enumerable").ToBoolean()}
			if symbol == nil {
				m.Name = key.String()
			} else {
				m.Name = p.inspectQuietly(symbol, defaultInspect())
			}
			if get, set := d.Get("get"), d.Get("set"); get != nil || set != nil {
				for to, from := range map[*goja.Value]goja.Value{&m.Get: get, &m.Set: set} { // order-independent: two members
					if from != nil && !goja.IsUndefined(from) {
						*to = from
					}
				}
			} else if accessors {
				continue
			} else {
				m.Value, m.Writable = d.Get("value"), d.Get("writable").ToBoolean()
			}
			if len(members) == maxMembers {
				more++
				continue
			}
			members = append(members, m)
		}
		if own {
			break
		}
	}
	return members, more
}

func (in *inspector) ownKeys(obj *goja.Object) (keys []goja.Value) {
	for _, name := range obj.GetOwnPropertyNames() {
		keys = append(keys, in.p.VM.ToValue(name))
	}
	symbols := in.ask("ObjectGetOwnPropertySymbols", obj).(*goja.Object)
	for i := range int(webidl.Get(symbols, "length").ToInteger()) {
		keys = append(keys, symbols.Get(strconv.Itoa(i)))
	}
	return keys
}

// Internals are what V8 shows of obj in double brackets: its prototype, a promise's
// state, the entries of collections, a proxy's target. Loop-confined.
func (p *Console) Internals(obj *goja.Object) (members []Member) {
	add := func(name string, v goja.Value) {
		members = append(members, Member{Name: "[[" + name + "]]", Value: v, Own: true})
	}
	text := func(s string) goja.Value { return p.VM.ToValue(s) }
	if proxy, ok := builtin.AsProxy(obj); ok {
		for name, part := range map[string]*goja.Object{"Handler": proxy.Handler(), "Target": proxy.Target()} { // order-independent: sorted below
			if part != nil {
				add(name, part)
			} else {
				add(name, goja.Null())
			}
		}
		slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
		return members
	}
	if obj.ExportType() == webidl.ProxyType {
		return nil
	}
	in := &inspector{p: p, o: defaultInspect(), lenient: true}
	if proto := obj.Prototype(); proto != nil {
		add("Prototype", proto)
	} else {
		add("Prototype", goja.Null())
	}
	if promise := webidl.PromiseOf(obj); promise != nil {
		switch promise.State() {
		case goja.PromiseStateFulfilled:
			add("PromiseState", text("fulfilled"))
		case goja.PromiseStateRejected:
			add("PromiseState", text("rejected"))
		default:
			add("PromiseState", text("pending"))
		}
		result := promise.Result()
		if result == nil {
			result = goja.Undefined()
		}
		add("PromiseResult", result)
	}
	for _, entry := range []struct{ kind, method string }{{"Map", "MapPrototypeEntries"}, {"Set", "SetPrototypeValues"}} {
		if !in.has(entry.kind+"PrototypeGetSize", obj) {
			continue
		}
		list := p.VM.NewArray()
		n := 0
		p.ForOf(in.ask(entry.method, obj), func(v goja.Value) {
			if n == maxMembers {
				return
			}
			one := p.VM.NewObject()
			if pair, isPair := v.(*goja.Object); isPair && entry.kind == "Map" {
				one.DefineDataProperty("key", pair.Get("0"), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
				one.DefineDataProperty("value", pair.Get("1"), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			} else {
				one.DefineDataProperty("value", v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			}
			list.DefineDataProperty(strconv.Itoa(n), one, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			n++
		})
		add("Entries", list)
	}
	return members
}
