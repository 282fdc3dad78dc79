// Package images is the images binding: package picture reads, transforms and writes
// pictures; hosted ones are stored in miniflare's files (miniflare: plugins/images,
// workers/images).
package images

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/images/picture"
	"minido.dev/minido/runtime/binding/kv"
	"minido.dev/minido/runtime/binding/miniflare"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

const kind = "images"

//go:embed images.js
var source string

var prelude = engine.NewPrelude("images.js", source)

// maxWork is how long one transformation may take, in the session's time.
const maxWork = 30 * time.Second

// bindings are those of a session. Safe for concurrent use.
type bindings struct {
	*driver.Stores[*kv.Namespace]
	session *driver.Session
	codecs  *picture.Codecs
	// pictures are worked on one after the other: each takes memory that no isolate's
	// limit sees.
	pictures *miniflare.Queue
	stored   *miniflare.Queue

	mu     sync.Mutex // guards warned
	warned map[string]bool
}

// New makes the driver of images bindings.
func New(s *driver.Session) driver.Driver {
	return &bindings{Stores: driver.NewStores[*kv.Namespace](s, kind), session: s, codecs: picture.NewCodecs(),
		pictures: miniflare.NewQueue(s.Scheduler), stored: miniflare.NewQueue(s.Scheduler), warned: map[string]bool{}}
}

// Close implements driver.Driver.
func (d *bindings) Close() error { return errors.Join(d.Stores.Close(), d.codecs.Close()) }

// Make implements driver.Driver.
func (d *bindings) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	vm := a.Engine.VM()
	bytesOf := func(v goja.Value) []byte {
		data, _ := a.Platform.BytesOf(v)
		return data
	}
	native := a.Engine.Native(
		driver.Call(a, "images", d.operation),
		engine.Func{Name: "limit", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			if n := call.Argument(0).ToInteger(); n > picture.MaxBytes {
				a.Engine.Throw("Error", "images: the pictures have %d bytes, and minido takes at most %d at once", n, picture.MaxBytes)
			}
			return goja.Undefined()
		}},
		engine.Func{Name: "encode", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return vm.ToValue(base64.StdEncoding.EncodeToString(bytesOf(call.Argument(0))))
		}},
		engine.Func{Name: "decode", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			data, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(bytesOf(call.Argument(0)))))
			if err != nil {
				return goja.Undefined()
			}
			return a.Platform.NewArrayBuffer(data)
		}},
		engine.Func{Name: "id", Fn: func(goja.FunctionCall) goja.Value { return vm.ToValue(driver.UUID(a)) }},
		engine.Func{Name: "warn", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			if what := call.Argument(0).String(); d.first(what) {
				a.Engine.Log(engine.Warn, fmt.Sprintf("env.%s ignores here, as in wrangler dev: %s", b.Name, what))
			}
			return goja.Undefined()
		}},
	)
	global := vm.GlobalObject()
	stubOf := a.Engine.Func("stubOf", 1, func(call goja.FunctionCall) goja.Value { return driver.Stub(a, w, call.Argument(0)) })
	images := a.Engine.Call(a.Engine.Load(prelude, native), goja.Undefined(), global.Get("Response"), global.Get("Headers"), a.RPCTargetClass(), stubOf)
	return driver.Uncloned(a, images, cfapi.StubsRefused)
}

// first reports whether a warning has not been given before.
func (d *bindings) first(what string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.warned[what]
	d.warned[what] = true
	return !known
}

// failure is an answer of the service that is none of what was asked for.
type failure struct {
	Status int    `json:"status"`
	Code   int    `json:"code,omitempty"`
	Text   string `json:"text"`
}

func (d *bindings) operation(op string, args, body []byte, done func(reply, data []byte, err error)) {
	switch op {
	case "info", "transform":
		d.pictures.Add("images "+op, func() {
			reply := struct {
				Failure *failure      `json:"failure,omitempty"`
				Info    *picture.Info `json:"info,omitempty"`
				Type    string        `json:"type,omitempty"`
			}{}
			var data []byte
			var err error
			if op == "info" {
				var info picture.Info
				if info, err = picture.ReadInfo(body); err == nil {
					reply.Info = &info
				}
			} else {
				data, reply.Type, err = d.transform(args, body)
			}
			var answer *picture.Error
			if errors.As(err, &answer) {
				reply.Failure, data, err = &failure{answer.Status, answer.Code, answer.Text}, nil, nil
			}
			respond(reply, data, err, done)
		})
	default:
		d.stored.Add("images "+op, func() {
			result, data, err := d.hosted(op, args, body)
			var no refusal
			if errors.As(err, &no) {
				respond(map[string]string{"refused": string(no)}, nil, nil, done)
				return
			}
			respond(map[string]any{"result": result}, data, err, done)
		})
	}
}

func respond(reply any, data []byte, err error, done func(reply, data []byte, err error)) {
	if err != nil {
		done(nil, nil, err)
		return
	}
	text, err := json.Marshal(reply)
	done(text, data, err)
}

// transform does what a transformer's output() asks for: body has the pictures one
// behind the other; a size that is -1 is that of a text.
func (d *bindings) transform(args, body []byte) ([]byte, string, error) {
	var r struct {
		Sizes   []int
		Steps   string
		Format  string
		Quality float64
	}
	if err := json.Unmarshal(args, &r); err != nil {
		return nil, "", err
	}
	if r.Sizes[0] < 0 {
		return nil, "", &picture.Error{Status: 400, Code: 9523, Text: "ERROR 9523: ERROR: Internal Images binding error: expected image in request, got null"}
	}
	steps, err := picture.Steps([]byte(r.Steps))
	if err != nil {
		return nil, "", err
	}
	var pictures [][]byte
	for _, n := range r.Sizes {
		if n < 0 {
			pictures = append(pictures, nil)
			continue
		}
		pictures = append(pictures, body[:n:n])
		body = body[n:]
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	late := errors.New("minido stops what takes longer than " + maxWork.String())
	timer := d.session.Scheduler.Clock().AfterFunc(maxWork, func() { cancel(late) })
	defer timer.Stop()
	defer cancel(nil)
	data, mime, err := d.codecs.Transform(ctx, pictures, steps, picture.Output{Format: r.Format, Quality: int(r.Quality)})
	if err != nil && context.Cause(ctx) == late {
		err = &picture.Error{Status: 500, Text: "images: " + late.Error()}
	}
	return data, mime, err
}
