// Package browser is Browser Rendering, with a Chromium on this machine: one process
// for each session, driven over its DevTools protocol.
package browser

import (
	_ "embed"
	"encoding/hex"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

//go:embed browser.js
var source string

var prelude = engine.NewPrelude("browser.js", source)

// browsers are the sessions of the workers that run together. Safe for concurrent
// use.
type browsers struct {
	session *driver.Session
	pool    *pool
}

// New makes the driver of browser bindings.
func New(s *driver.Session) driver.Driver { return &browsers{session: s, pool: newPool()} }

// Offered implements driver.Driver.
func (d *browsers) Offered(driver.Worker, config.Binding) bool {
	_, err := d.executable()
	return err == nil
}

func (d *browsers) executable() (string, error) { return find(d.session.Environ) }

// Make implements driver.Driver. The binding talks to the browser with the
// platform's own fetch and WebSockets.
func (d *browsers) Make(a *cfapi.API, w driver.Worker, _ config.Binding) goja.Value {
	vm := a.Engine.VM()
	launch := engine.Func{Name: "launch", Fn: func(goja.FunctionCall) goja.Value {
		var id [16]byte
		if _, err := a.Engine.Entropy().Read(id[:]); err != nil {
			a.Engine.Throw("Error", "browser: %s", err)
		}
		now := a.Engine.Now().UnixMilli()
		return driver.Async(a, "Browser Rendering", "launch", func(settle func(func() goja.Value)) {
			d.session.Scheduler.Go("launch a browser", func() {
				path, err := d.executable()
				var s *process
				if err == nil {
					s, err = launch(path, startLimit)
				}
				if err == nil {
					text := hex.EncodeToString(id[:])
					s.ID, s.StartMs = text[:8]+"-"+text[8:12]+"-"+text[12:16]+"-"+text[16:20]+"-"+text[20:], now
					err = d.pool.add(s)
				}
				settle(func() goja.Value {
					if err != nil {
						a.Engine.Throw("Error", "%s", err)
					}
					return describe(vm, s)
				})
			})
		})
	}}
	sessions := engine.Func{Name: "sessions", Fn: func(goja.FunctionCall) goja.Value {
		var list []any
		for _, s := range d.pool.list() {
			list = append(list, describe(vm, s))
		}
		return vm.NewArray(list...)
	}}
	end := engine.Func{Name: "end", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
		id := call.Argument(0).String()
		return driver.Async(a, "Browser Rendering", "close", func(settle func(func() goja.Value)) {
			d.session.Scheduler.Go("close a browser", func() {
				err := d.pool.end(id)
				settle(func() goja.Value {
					if err != nil {
						a.Engine.Throw("Error", "%s", err)
					}
					return goja.Undefined()
				})
			})
		})
	}}
	global := vm.GlobalObject()
	create := a.Engine.Load(prelude, a.Engine.Native(launch, sessions, end))
	return driver.Stub(a, w, a.Engine.Call(create, goja.Undefined(), global.Get("fetch"), global.Get("Response"), global.Get("URL"),
		global.Get("WebSocketPair"), global.Get("TextEncoder"), global.Get("TextDecoder"), global.Get("crypto")))
}

func describe(vm *goja.Runtime, s *process) goja.Value {
	o := vm.NewObject()
	o.Set("sessionId", s.ID)
	o.Set("startTime", s.StartMs)
	o.Set("endpoint", s.Endpoint)
	return o
}

// Close implements driver.Driver.
func (d *browsers) Close() error { return d.pool.close() }
