// Package helloworld is the hello world binding, a stored value with which wrangler's
// authors test their tools. It is kept in a Durable Object of the platform's own, in
// miniflare's files (miniflare: plugins/hello-world).
package helloworld

import (
	_ "embed"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

const (
	kind = "unsafe_hello_world"
	// uniqueKey and folder are miniflare's.
	uniqueKey = "miniflare-hello-world-HelloWorldObject"
	folder    = "hello-world"
)

//go:embed helloworld.js
var source string

var prelude = engine.NewPrelude("hello-world.js", source)

type bindings struct{ driver.Stateless }

var _ driver.Hosting = bindings{}

// New makes the driver of hello world bindings.
func New(*driver.Session) driver.Driver { return bindings{} }

func load(a *cfapi.API) *goja.Object { return a.Engine.Load(prelude, a.Engine.Native()).(*goja.Object) }

// Classes implements driver.Hosting: the object lives with the first worker that has
// such a binding.
func (bindings) Classes(projects []*config.Project) []driver.Class {
	for _, p := range projects {
		for _, b := range p.Bindings {
			if b.Kind != kind {
				continue
			}
			return []driver.Class{{Name: "hello-world", UniqueKey: uniqueKey, Folder: folder, Script: p.Name, Make: func(a *cfapi.API, _ driver.Handlers) *goja.Object {
				return a.Engine.Call(load(a).Get("object"), goja.Undefined(), a.DurableObjectClass()).(*goja.Object)
			}}}
		}
	}
	return nil
}

// Make implements driver.Driver. Bindings with a timer share a value, and so do those
// without: the reference names the object after the setting of the first of them.
func (bindings) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	timer, _ := b.Params["enable_timer"].(bool)
	name := `{"enable_timer":true}`
	if !timer {
		name = "{}"
		first := slices.IndexFunc(w.Project().Bindings, func(o config.Binding) bool { return o.Kind == kind && o.Params["enable_timer"] != true })
		if w.Project().Bindings[first].Params["enable_timer"] == false {
			name = `{"enable_timer":false}`
		}
	}
	ns := w.Objects(uniqueKey)
	stub := a.Service(ns.Stub(ns.IDs().FromName(name)))
	return driver.Stub(a, w, a.Engine.Call(load(a).Get("binding"), goja.Undefined(), stub, a.Engine.VM().ToValue(timer)))
}
