package isolate

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/inspect"
)

// Remote is a value as a tool outside the isolate sees it. Immutable.
type Remote struct {
	inspect.Mirror
	// ID names an object until it is released; "" for primitives.
	ID string
	// JSON is the value of a primitive, and of an object that was asked for by value;
	// nil where JSON has none, or not the same.
	JSON    json.RawMessage
	Preview *Preview
}

// Preview are the first properties of an object.
type Preview struct {
	Properties []PreviewProperty
	Entries    []PreviewEntry // of a Map or Set
	Overflow   bool           // there are more
}

// PreviewProperty is one of them; Type is "accessor" for a getter.
type PreviewProperty struct{ Name, Type, Subtype, Value string }

// PreviewEntry is an entry; Key is nil in Sets.
type PreviewEntry struct{ Key, Value *inspect.Mirror }

// Limits of what a tool is told. Objects beyond maxRemotes push out the oldest ones.
const (
	maxRemotes        = 10_000
	previewProperties = 5
	previewItems      = 100
	previewText       = 100
	maxDescription    = 64 << 10
	maxLoggedText     = 8 << 10
)

// remotes are the objects of an isolate that tools know by ids. Loop-confined.
type remotes struct {
	i       *Isolate
	prefix  string // no two isolates of a process share it
	last    int64
	objects map[string]held
	order   []string // ids, the oldest first; some may be gone
}

type held struct {
	object *goja.Object
	group  string
}

var isolates atomic.Int64 // that have had remotes

var errNoRemote = errors.New("Could not find object with given id") //lint:ignore ST1005 the reference's text

func newRemotes(i *Isolate) *remotes { return &remotes{i: i} }

func (r *remotes) hold(obj *goja.Object, group string) string {
	if r.objects == nil {
		r.objects, r.prefix = map[string]held{}, strconv.FormatInt(isolates.Add(1), 10)+".1."
	}
	r.last++
	id := r.prefix + strconv.FormatInt(r.last, 10)
	r.objects[id] = held{obj, group}
	r.order = append(r.order, id)
	for len(r.objects) > maxRemotes {
		delete(r.objects, r.order[0])
		r.order = r.order[1:]
	}
	if len(r.order) > 2*maxRemotes {
		r.order = slices.DeleteFunc(r.order, func(id string) bool { return r.objects[id].object == nil })
	}
	return id
}

func (r *remotes) find(id string) (*goja.Object, error) {
	if h, ok := r.objects[id]; ok {
		return h.object, nil
	}
	return nil, errNoRemote
}

func (r *remotes) group(id string) string { return r.objects[id].group }

func (r *remotes) release(id string) { delete(r.objects, id) }

func (r *remotes) releaseGroup(group string) {
	for id, h := range r.objects { // order-independent: each is deleted alike
		if h.group == group {
			delete(r.objects, id)
		}
	}
}

// of describes a value.
func (r *remotes) of(v goja.Value, o EvaluateOptions) Remote {
	if v == nil {
		v = goja.Undefined()
	}
	out := Remote{Mirror: r.i.Platform.Console.Mirror(v)}
	out.Description = cut(out.Description, maxDescription)
	obj, isObject := v.(*goja.Object)
	if isObject && !o.ByValue {
		out.ID = r.hold(obj, o.Group)
		if o.Preview && out.Type == "object" && out.Subtype != "proxy" {
			out.Preview = r.preview(obj, out.Subtype)
		}
		return out
	}
	if out.Type == "undefined" || out.Type == "function" || out.Type == "symbol" || out.Type == "bigint" {
		return out
	}
	if out.Subtype == "null" {
		out.JSON = json.RawMessage("null")
		return out
	}
	r.i.Engine.Try(func() {
		if text, err := json.Marshal(v); err == nil && json.Valid(text) {
			out.JSON = text
		}
	})
	return out
}

func (r *remotes) property(m inspect.Member, o EvaluateOptions) Property {
	of := func(v goja.Value) *Remote {
		if v == nil {
			return nil
		}
		out := r.of(v, o)
		return &out
	}
	p := Property{Name: m.Name, Value: of(m.Value), Get: of(m.Get), Set: of(m.Set), Writable: m.Writable, Configurable: m.Configurable, Enumerable: m.Enumerable, Own: m.Own}
	if m.Symbol != nil {
		p.Symbol = of(m.Symbol)
	}
	return p
}

func (r *remotes) preview(obj *goja.Object, subtype string) *Preview {
	p, limit := &Preview{}, previewProperties
	if subtype == "array" || subtype == "typedarray" {
		limit = previewItems
	}
	console := r.i.Platform.Console
	r.i.Engine.Try(func() {
		members, more := console.Members(obj, true, false)
		p.Overflow = more > 0
		for _, m := range members {
			switch {
			case !m.Enumerable || m.Symbol != nil:
				continue
			case len(p.Properties) == limit:
				p.Overflow = true
				return
			}
			one := PreviewProperty{Name: m.Name, Type: "accessor"}
			if m.Value != nil {
				mirror := console.Mirror(m.Value)
				one.Type, one.Subtype, one.Value = mirror.Type, mirror.Subtype, cut(mirror.Description, previewText)
				if one.Type == "function" {
					one.Value = ""
				}
			}
			p.Properties = append(p.Properties, one)
		}
	})
	if subtype != "map" && subtype != "set" {
		return p
	}
	r.i.Engine.Try(func() {
		for _, m := range console.Internals(obj) {
			if m.Name != "[[Entries]]" {
				continue
			}
			list := m.Value.(*goja.Object)
			for n, key := range list.Keys() {
				if n == previewProperties {
					p.Overflow = true
					return
				}
				entry, e := list.Get(key).(*goja.Object), PreviewEntry{}
				mirror := func(name string) *inspect.Mirror {
					v := entry.Get(name)
					if v == nil {
						return nil
					}
					out := console.Mirror(v)
					out.Description = cut(out.Description, previewText)
					return &out
				}
				e.Key, e.Value = mirror("key"), mirror("value")
				p.Entries = append(p.Entries, e)
			}
		}
	})
	return p
}

// brief describes a value that is kept for long: texts are bounded.
func (r *remotes) brief(v goja.Value) Remote {
	out := r.of(v, EvaluateOptions{Preview: true, Group: ConsoleGroup})
	out.Description = cut(out.Description, maxLoggedText)
	if len(out.JSON) > maxLoggedText {
		if text, err := json.Marshal(out.Description); err == nil {
			out.JSON = text
		}
	}
	return out
}

// cut shortens a text to about n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// LogObserver is told what workers log, with more than its text while it wants that.
// Its methods are called on loops, so they must be fast. Safe for concurrent use.
type LogObserver interface {
	// Wants says what Logged is given besides the text.
	Wants() LogDetails
	Logged(log Logged)
}

// LogDetails is what a LogObserver wants.
type LogDetails struct {
	Stack  bool // where it was logged
	Values bool // what console was given
}

// Logged is one message of a worker.
type Logged struct {
	Level  string // debug, info, log, warn, error
	Object string // "Class/name", "" for a stateless worker
	Text   string
	// Stack is in V8's form, with positions of the sources; "" if nobody wants it, and
	// where no code logged it.
	Stack string
	// Values are what console was given; nil if nobody wants them.
	Values []Remote
}

// ConsoleGroup is the group of the objects in Logged.
const ConsoleGroup = "console"

// log is the engine's logger.
func (i *Isolate) log(level engine.Level, c *engine.Context, text string) {
	said := i.saying
	i.saying = nil
	if i.opts.Logs != nil {
		l := Logged{Level: levelNames[level], Text: text}
		if c != nil {
			l.Object = c.Label
		}
		wants := i.opts.Logs.Wants()
		if wants.Stack {
			stack := strings.TrimPrefix(i.Engine.Errors.MapStack("\n"+i.Platform.CallStack()), "\n")
			if first, rest, _ := strings.Cut(stack, "\n"); strings.TrimSpace(first) == "at native" {
				stack = rest // the method of console, which has no name
			}
			l.Stack = stack
		}
		if wants.Values {
			for _, v := range said {
				l.Values = append(l.Values, i.remotes.brief(v))
			}
		}
		i.opts.Logs.Logged(l)
	}
	if i.opts.Log != nil {
		i.opts.Log(level, c, text)
	}
}
