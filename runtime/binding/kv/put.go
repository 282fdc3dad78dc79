package kv

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/webidl"
)

// putOptions are the options of a put, as they were given.
type putOptions struct {
	expiration, ttl *int32
	metadata        string // JSON
}

func (p *api) putOptions(v goja.Value) putOptions {
	o := putOptions{expiration: p.intMember(v, "expiration"), ttl: p.intMember(v, "expirationTtl")}
	if metadata := webidl.Get(v, "metadata"); !webidl.IsMissing(metadata) {
		o.metadata = p.Engine.Call(p.Engine.Primordial("JSONStringify"), goja.Undefined(), metadata).String()
	}
	return o
}

// put stores a value: a string, what has bytes, or what a stream gives.
func (p *api) put(call goja.FunctionCall) goja.Value {
	p.Platform.Need(call, 1, class, "put", "string")
	key := p.Platform.USV(call.Arguments[0])
	p.Platform.Need(call, 2, class, "put", "string or Object")
	object, isObject := call.Arguments[1].(*goja.Object)
	text := ""
	if !isObject {
		text = p.Platform.USV(call.Arguments[1])
	}
	p.dictionary(call, "put", 3, "PutOptions")
	o := p.putOptions(call.Argument(2))
	p.checkKey("PUT", key)
	if !isObject {
		return p.store(key, []byte(text), o)
	}
	if data, ok := p.Platform.BytesOf(object); ok {
		return p.store(key, append([]byte(nil), data...), o)
	}
	if !p.Platform.Streams.Is(object) {
		p.Engine.Throw("TypeError", "KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.")
	}
	read := p.Platform.Streams.Consume(object, "put", false, p.Platform.NewArrayBuffer)
	promise, resolve, reject := p.Engine.NewPromise()
	p.Engine.Await(read, func(v goja.Value) {
		data, _ := p.Platform.BytesOf(v)
		resolve(p.Platform.Promise(func() goja.Value { return p.store(key, data, o) }))
	}, func(reason goja.Value) { reject(reason) })
	return p.Engine.VM().ToValue(promise)
}

func (p *api) store(key string, data []byte, o putOptions) goja.Value {
	return p.start("PUT", func(n backend) (func() goja.Value, error) {
		e := Entry{Key: key, Metadata: o.metadata}
		err := e.Check(data)
		if err == nil {
			e.Expiration, err = Expires(n.Now()/1000, o.expiration, o.ttl)
		}
		if err == nil {
			err = n.Put(e, data)
		}
		return goja.Undefined, err
	})
}
