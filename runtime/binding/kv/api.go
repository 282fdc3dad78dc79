package kv

import (
	"errors"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webidl"
)

const class = "KvNamespace"

// api is a KvNamespace on env (workerd: api/kv.h). Loop-confined, but for open.
type api struct {
	*cfapi.API
	open func() (*shared, error)
}

func (p *api) define() goja.Value {
	method := func(name string, fn func(call goja.FunctionCall) goja.Value) engine.Method[*api] {
		return engine.Method[*api]{Name: name, Fn: func(_ *api, call goja.FunctionCall) goja.Value {
			if strings.HasPrefix(name, "get") {
				p.needKeys(call, name) // not by a promise: two signatures are tried
			}
			return p.Platform.Promise(func() goja.Value { return fn(call) })
		}}
	}
	return engine.DefineClass(p.Engine, engine.ClassDef[*api]{
		Name: class,
		Methods: []engine.Method[*api]{
			method("get", func(call goja.FunctionCall) goja.Value { return p.get(call, false) }),
			method("list", p.list),
			method("put", p.put),
			method("getWithMetadata", func(call goja.FunctionCall) goja.Value { return p.get(call, true) }),
			method("delete", p.delete),
		},
	}).Wrap(p)
}

// operation is what is done with a namespace. What it returns is called on the
// loop, for the value.
type operation func(n backend) (func() goja.Value, error)

// errNotAtHand is what an operation of startNow gives that has to be run off the loop.
var errNotAtHand = errors.New("not at hand")

// start runs an operation of the namespace, off the loop, after those that were
// started before it. method is what errors of the service call it.
func (p *api) start(method string, run operation) goja.Value { return p.startNow(method, nil, run) }

// startNow is start, where now, if it is not nil, is run first, on the loop, unless
// operations run or wait; it must not block for long.
func (p *api) startNow(method string, now, run operation) goja.Value {
	return driver.Async(p.API, "KV", method, func(settle func(func() goja.Value)) {
		fail := func(err error) { settle(func() goja.Value { return p.fail(method, err) }) }
		n, err := p.open()
		if err != nil {
			fail(err)
			return
		}
		try := func(run operation) (done bool) {
			value, err := run(n.backend)
			switch {
			case errors.Is(err, errNotAtHand):
				return false
			case err != nil:
				fail(err)
			default:
				settle(value)
			}
			return true
		}
		done := false
		if now != nil {
			n.TryNow("kv "+method, func() { done = try(now) })
		}
		if !done {
			n.Add("kv "+method, func() { try(run) })
		}
	})
}

// fail throws what went wrong: the service's answer, or why there is none.
func (p *api) fail(method string, err error) goja.Value {
	var refused *Error
	if errors.As(err, &refused) {
		p.Engine.Throw("Error", "KV %s failed: %s", method, refused)
	}
	p.Engine.Throw("Error", "KV %s failed: 500 %s", method, err)
	return nil
}

func (p *api) checkKey(method, key string) {
	switch key {
	case "":
		p.Engine.Throw("TypeError", "Key name cannot be empty.")
	case ".", "..":
		p.Engine.Throw("TypeError", "\"%s\" is not allowed as a key name.", key)
	}
	if err := checkKeyLength(key); err != nil {
		p.fail(method, err)
	}
}

// int32Or is a member that is an int, nil if it is not there.
func (p *api) intMember(options goja.Value, name string) *int32 {
	v := webidl.Get(options, name)
	if webidl.IsUndefined(v) {
		return nil
	}
	n := p.Platform.Int32(v)
	return &n
}

// getOptions are the options of a get: a type, or an object.
type getOptions struct {
	kind     string
	cacheTTL *int32
	metadata bool
}

func (p *api) getOptions(v goja.Value, metadata bool) getOptions {
	o := getOptions{metadata: metadata}
	if webidl.IsMissing(v) {
		return o
	}
	if _, isObject := v.(*goja.Object); !isObject {
		o.kind = p.Platform.USV(v)
		return o
	}
	if kind := webidl.Get(v, "type"); !webidl.IsUndefined(kind) {
		o.kind = p.Platform.USV(kind)
	}
	o.cacheTTL = p.intMember(v, "cacheTtl")
	return o
}

// needKeys refuses a get without keys.
func (p *api) needKeys(call goja.FunctionCall, name string) {
	keys := "string or Array"
	if name == "getWithMetadata" {
		keys = "Array or string" // as the two signatures have it
	}
	p.Platform.Need(call, 1, class, name, keys)
}

// dictionary refuses an nth argument that is neither left out nor an object.
func (p *api) dictionary(call goja.FunctionCall, method string, n int, typ string) {
	v := call.Argument(n - 1)
	if _, ok := v.(*goja.Object); !ok && !webidl.IsMissing(v) {
		p.Platform.BadArgument(class, method, n, typ)
	}
}

func (p *api) get(call goja.FunctionCall, metadata bool) goja.Value {
	if list, ok := call.Arguments[0].(*goja.Object); ok && list.ClassName() == "Array" {
		var keys []string
		p.Platform.ForOf(list, func(v goja.Value) { keys = append(keys, p.Platform.USV(v)) })
		return p.getBulk(keys, p.getOptions(call.Argument(1), metadata))
	}
	key := p.Platform.USV(call.Arguments[0])
	o := p.getOptions(call.Argument(1), metadata)
	p.checkKey("GET", key)
	if err := checkCacheTTL(o.cacheTTL); err != nil {
		return p.start("GET", func(backend) (func() goja.Value, error) { return nil, err })
	}
	now := func(n backend) (func() goja.Value, error) {
		found, known, err := n.GetCached(key)
		if err == nil && !known {
			err = errNotAtHand
		}
		return func() goja.Value { return p.found(found, o) }, err
	}
	return p.startNow("GET", now, func(n backend) (func() goja.Value, error) {
		found, err := n.Get(key)
		return func() goja.Value { return p.found(found, o) }, err
	})
}

// found is what a get gives for a value, which is nil if there is none.
func (p *api) found(v *Value, o getOptions) goja.Value {
	value, metadata := goja.Null(), goja.Null()
	if v != nil {
		value = p.valueAs(v.Data, o.kind)
		if v.Metadata != "" {
			metadata = p.ParseJSON(v.Metadata)
		}
	}
	if !o.metadata {
		return value
	}
	return p.Platform.Record("value", value, "metadata", metadata, "cacheStatus", goja.Null())
}

func (p *api) valueAs(data []byte, kind string) goja.Value {
	switch kind {
	case "", "text":
		return p.Engine.String(webidl.ValidUTF8(data))
	case "json":
		return p.ParseJSON(webidl.ValidUTF8(data))
	case "arrayBuffer":
		return p.Platform.NewArrayBuffer(append([]byte(nil), data...))
	case "stream":
		return p.Platform.Streams.FromBody(event.Bytes(append([]byte(nil), data...)))
	}
	p.Engine.Throw("TypeError", `Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".`)
	return nil
}

func (p *api) list(call goja.FunctionCall) goja.Value {
	p.dictionary(call, "list", 1, "ListOptions")
	o := call.Argument(0)
	text := func(name string) string {
		if v := webidl.Get(o, name); !webidl.IsMissing(v) {
			return p.Platform.USV(v)
		}
		return ""
	}
	limit := int32(maxListKeys)
	if given := p.intMember(o, "limit"); given != nil && *given > 0 {
		limit = *given
	}
	prefix, cursor := text("prefix"), text("cursor")
	return p.start("GET", func(n backend) (func() goja.Value, error) {
		if err := errors.Join(checkListLimit(limit), checkKeyLength(prefix)); err != nil {
			return nil, err
		}
		page, err := n.List(prefix, cursor, int(limit))
		return func() goja.Value { return p.page(page) }, err
	})
}

func (p *api) page(page Page) goja.Value {
	r, vm := p.Platform, p.Engine.VM()
	keys := make([]any, 0, len(page.Entries))
	for _, e := range page.Entries {
		key := r.Record("name", p.Engine.String(e.Key))
		if e.Expiration != 0 {
			r.DefinePlain(key, "expiration", e.Expiration)
		}
		if e.Metadata != "" {
			r.DefinePlain(key, "metadata", p.ParseJSON(e.Metadata))
		}
		keys = append(keys, key)
	}
	result := r.Record("keys", vm.NewArray(keys...), "list_complete", page.Cursor == "")
	if page.Cursor != "" {
		r.DefinePlain(result, "cursor", page.Cursor)
	}
	r.DefinePlain(result, "cacheStatus", goja.Null())
	return result
}

func (p *api) delete(call goja.FunctionCall) goja.Value {
	p.Platform.Need(call, 1, class, "delete", "string")
	key := p.Platform.USV(call.Arguments[0])
	p.checkKey("DELETE", key)
	return p.start("DELETE", func(n backend) (func() goja.Value, error) { return goja.Undefined, n.Delete(key) })
}
