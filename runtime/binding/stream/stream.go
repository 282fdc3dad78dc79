// Package stream is the Stream binding in wrangler's local mode: videos, captions,
// watermarks and downloads are kept in miniflare's files and never encoded (miniflare:
// plugins/stream, workers/stream).
package stream

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/miniflare"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

const kind = "stream"

// videoPath is where videos are watched (miniflare: workers/core/constants.ts).
const videoPath = "/__cf_local/stream"

//go:embed stream.js
var source string

var prelude = engine.NewPrelude("stream.js", source)

// bindings are those of a session: all see the same videos. Safe for concurrent use.
type bindings struct {
	*driver.Stores[store]
	session *driver.Session
	queue   *miniflare.Queue
}

var _ driver.Web = (*bindings)(nil)

// New makes the driver of Stream bindings.
func New(s *driver.Session) driver.Driver {
	return &bindings{driver.NewStores[store](s, kind), s, miniflare.NewQueue(s.Scheduler)}
}

func (d *bindings) store() (store, error) {
	return d.Get(dataName, func(dir string) (store, error) {
		s := d.session
		made, err := miniflare.New(miniflare.Options{Dir: dir, Product: kind, Noun: "store", Class: Class, Name: dataName, Blobs: true, Schema: schema,
			Table: "_mf_stream_videos", Clock: s.Scheduler.Clock(), Entropy: s.Entropy.Fork(kind), Points: s.Points})
		return store{made}, err
	})
}

// Make implements driver.Driver.
func (d *bindings) Make(a *cfapi.API, w driver.Worker, _ config.Binding) goja.Value {
	vm, global := a.Engine.VM(), a.Engine.VM().GlobalObject()
	native := a.Engine.Native(
		driver.Call(a, kind, d.operation),
		engine.Func{Name: "id", Fn: func(goja.FunctionCall) goja.Value { return vm.ToValue(driver.UUID(a)) }},
		engine.Func{Name: "origin", Fn: func(goja.FunctionCall) goja.Value { return vm.ToValue(d.origin()) }},
	)
	intl := global.Get("Intl").ToObject(vm)
	return driver.Stub(a, w, a.Engine.Call(a.Engine.Load(prelude, native), goja.Undefined(), a.RPCTargetClass(), global.Get("Response"), global.Get("fetch"), intl.Get("DisplayNames"), vm.ToValue(videoPath)))
}

// origin is where clients reach the worker.
func (d *bindings) origin() string {
	if at := d.session.URL(); at != "" {
		return strings.TrimSuffix(at, "/")
	}
	return "http://localhost" // nothing listens: tests, simulations
}

func (d *bindings) operation(op string, args, body []byte, done func(reply, data []byte, err error)) {
	d.queue.Add("stream "+op, func() {
		if op == "watch" {
			reply, data, err := d.watched(args)
			done(reply, data, err)
			return
		}
		var r request
		if err := json.Unmarshal(args, &r); err != nil {
			done(nil, nil, err)
			return
		}
		var result any
		s, err := d.store()
		if err == nil {
			err = s.Do(func() (err error) {
				result, err = s.do(op, r, body)
				return err
			})
		}
		reply := map[string]any{"result": result}
		var no *refusal
		if errors.As(err, &no) {
			reply, err = map[string]any{"refused": no}, nil
		}
		if err != nil {
			done(nil, nil, err)
			return
		}
		text, err := json.Marshal(reply)
		done(text, nil, err)
	})
}

// watched is watch for the binding's fetch().
func (d *bindings) watched(args []byte) (reply, data []byte, err error) {
	var asked struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(args, &asked); err != nil {
		return nil, nil, err
	}
	status, headers, data := d.watch(asked.URL)
	reply, err = json.Marshal(map[string]any{"status": status, "headers": headers})
	return reply, data, err
}

// Serves implements driver.Web.
func (d *bindings) Serves(path string) bool { return strings.HasPrefix(path, videoPath+"/") }

// Serve implements driver.Web: a video is watched as it was uploaded.
func (d *bindings) Serve(req *event.Request, _ []byte, done func(*event.Response)) {
	d.queue.Add("stream watch", func() {
		status, headers, data := d.watch(req.URL)
		header := event.Header{}
		for _, h := range headers {
			header = append(header, event.Field{Name: h[0], Value: h[1]})
		}
		done(&event.Response{Status: status, StatusText: event.Reason(status), Header: header, Body: event.Bytes(data)})
	})
}

// watch answers for the URL of a video.
func (d *bindings) watch(at string) (status int, headers [][2]string, data []byte) {
	answer := func(status int, mime string, data []byte) (int, [][2]string, []byte) {
		return status, [][2]string{{"Content-Type", mime}, {"Content-Length", fmt.Sprint(len(data))}}, data
	}
	const text = "text/plain;charset=UTF-8"
	u, err := url.Parse(at)
	if err != nil {
		return answer(400, text, []byte(err.Error()))
	}
	id, watched := strings.CutSuffix(strings.TrimPrefix(u.Path, videoPath+"/"), "/watch")
	if !watched || id == "" || strings.Contains(id, "/") {
		return answer(404, text, []byte("Not found"))
	}
	s, err := d.store()
	if err == nil {
		data, err = s.video(id)
	}
	switch {
	case err != nil:
		return answer(500, text, []byte("stream: "+err.Error()))
	case data == nil:
		return answer(404, text, []byte("Video not found"))
	}
	return answer(200, "video/mp4", data)
}
