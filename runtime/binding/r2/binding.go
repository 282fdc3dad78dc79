package r2

import (
	_ "embed"
	"encoding/json"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

const kind = "r2_bucket"

//go:embed r2.js
var source string

var prelude = engine.NewPrelude("r2.js", source)

// buckets are the buckets that the workers of a session have asked for: each has
// one owner. Safe for concurrent use.
type buckets struct {
	*driver.Stores[*Bucket]
	session *driver.Session
}

// New makes the driver of R2 bindings.
func New(s *driver.Session) driver.Driver {
	return &buckets{Stores: driver.NewStores[*Bucket](s, kind), session: s}
}

// Make implements driver.Driver.
func (d *buckets) Make(a *cfapi.API, _ driver.Worker, b config.Binding) goja.Value {
	native := a.Engine.Native(
		driver.Call(a, "r2", d.operation(BucketName(b))),
		engine.Func{Name: "length", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return a.Engine.VM().ToValue(a.Platform.Streams.Length(call.Argument(0)))
		}},
		engine.Func{Name: "utf8Length", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return a.Engine.VM().ToValue(len(call.Argument(0).String()))
		}},
		engine.Func{Name: "blob", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			data, _ := call.Argument(0).Export().(goja.ArrayBuffer)
			return a.Platform.Blobs.NewBlob(data.Bytes(), call.Argument(1).String())
		}},
	)
	native.Set("whole", a.Platform.Enabled(compat.EnableFastJsgStruct))
	create := a.Engine.Load(prelude, native)
	global := a.Engine.VM().GlobalObject()
	bucket := a.Engine.Call(create, goja.Undefined(), global.Get("Response"), global.Get("Headers"), global.Get("Blob"), global.Get("ReadableStream"))
	return driver.Uncloned(a, bucket, "An R2 bucket binding cannot be serialized.")
}

// BucketName is the bucket that a binding names, as wrangler dev chooses it.
func BucketName(b config.Binding) string {
	for _, p := range []string{"preview_bucket_name", "bucket_name"} {
		if name := b.Param(p); name != "" {
			return name
		}
	}
	return b.Name
}

// operation is what a binding to the bucket does.
func (d *buckets) operation(name string) driver.Operation {
	return func(op string, args, body []byte, done func(reply, data []byte, err error)) {
		d.session.Scheduler.Go("r2 "+op, func() {
			var r Request
			if err := json.Unmarshal(args, &r); err != nil {
				done(nil, nil, err)
				return
			}
			bucket, err := d.get(name)
			if err != nil {
				done(nil, nil, err)
				return
			}
			reply, data, err := bucket.Do(op, r, body)
			if err != nil {
				done(nil, nil, err)
				return
			}
			text, err := json.Marshal(reply)
			done(text, data, err)
		})
	}
}

// Bucket is the bucket of a name, for who looks at it from outside of a worker.
func (d *buckets) Bucket(name string) (*Bucket, error) { return d.get(name) }

func (d *buckets) get(name string) (*Bucket, error) {
	return d.Get(name, func(dir string) (*Bucket, error) {
		return Open(Options{Dir: dir, Name: name,
			Clock: d.session.Scheduler.Clock(), Entropy: d.session.Entropy.Fork("r2 " + name), Points: d.session.Points})
	})
}
