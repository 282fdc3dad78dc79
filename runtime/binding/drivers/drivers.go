// Package drivers lists the kinds of bindings that minido supports. A new kind is a
// folder below runtime/binding, and a line here.
package drivers

import (
	"errors"
	"maps"
	"slices"

	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/binding/ai"
	"minido.dev/minido/runtime/binding/analyticsengine"
	"minido.dev/minido/runtime/binding/assets"
	"minido.dev/minido/runtime/binding/browser"
	"minido.dev/minido/runtime/binding/d1"
	"minido.dev/minido/runtime/binding/dispatch"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/durableobject"
	"minido.dev/minido/runtime/binding/file"
	"minido.dev/minido/runtime/binding/helloworld"
	"minido.dev/minido/runtime/binding/hyperdrive"
	"minido.dev/minido/runtime/binding/images"
	"minido.dev/minido/runtime/binding/kv"
	"minido.dev/minido/runtime/binding/pipeline"
	"minido.dev/minido/runtime/binding/queue"
	"minido.dev/minido/runtime/binding/r2"
	"minido.dev/minido/runtime/binding/ratelimit"
	"minido.dev/minido/runtime/binding/secretsstore"
	"minido.dev/minido/runtime/binding/sendemail"
	"minido.dev/minido/runtime/binding/service"
	"minido.dev/minido/runtime/binding/stream"
	"minido.dev/minido/runtime/binding/vars"
	"minido.dev/minido/runtime/binding/vectorize"
	"minido.dev/minido/runtime/binding/versionmetadata"
	"minido.dev/minido/runtime/binding/workerloader"
	"minido.dev/minido/runtime/binding/workflow"
	"minido.dev/minido/runtime/config"
)

var makers = map[binding.ID]func(*driver.Session) driver.Driver{
	"ai":                       ai.New,
	"analytics_engine":         analyticsengine.New,
	"assets":                   assets.New,
	"browser":                  browser.New,
	"d1":                       d1.New,
	"data_blob":                file.NewData,
	"dispatch_namespace":       dispatch.New,
	"durable_object_namespace": durableobject.New,
	"unsafe_hello_world":       helloworld.New,
	"hyperdrive":               hyperdrive.New,
	"images":                   images.New,
	"kv_namespace":             kv.New,
	"pipeline":                 pipeline.New,
	"queue":                    queue.New,
	"ratelimit":                ratelimit.New,
	"r2_bucket":                r2.New,
	"secrets_store_secret":     secretsstore.New,
	"send_email":               sendemail.New,
	"service":                  service.New,
	"site":                     kv.NewSite,
	"stream":                   stream.New,
	"text_blob":                file.NewText,
	"vars":                     vars.New,
	"vectorize":                vectorize.New,
	"version_metadata":         versionmetadata.New,
	"wasm_module":              file.NewWasm,
	"worker_loader":            workerloader.New,
	"workflow":                 workflow.New,

	"agent_memory":        driver.NewRemoteOnly,
	"ai_search":           driver.NewRemoteOnly,
	"ai_search_namespace": driver.NewRemoteOnly,
	"analytics":           driver.NewRemoteOnly,
	"k2":                  driver.NewRemoteOnly,
	"media":               driver.NewRemoteOnly,
	"mtls_certificate":    driver.NewRemoteOnly,
	"vpc_network":         driver.NewRemoteOnly,
	"vpc_service":         driver.NewRemoteOnly,
}

// Drivers are the drivers of one session. Safe for concurrent use.
type Drivers struct{ open map[binding.ID]driver.Driver }

// Open makes them.
func Open(s *driver.Session) *Drivers {
	d := &Drivers{open: make(map[binding.ID]driver.Driver, len(makers))}
	for id, make := range makers { // order-independent: nothing is opened before it is used
		d.open[id] = make(s)
	}
	return d
}

// Classes are the platform's classes that the workers of a session need, in the
// order of the kinds' names.
func (d *Drivers) Classes(projects []*config.Project) (all []driver.Class) {
	for _, id := range slices.Sorted(maps.Keys(d.open)) {
		if h, ok := d.open[id].(driver.Hosting); ok {
			all = append(all, h.Classes(projects)...)
		}
	}
	return all
}

// Of is the driver of a kind; nil for one that minido does not offer.
func (d *Drivers) Of(kind binding.ID) driver.Driver { return d.open[kind] }

// Web is the driver that answers clients at a path, and its kind; nil if none does.
func (d *Drivers) Web(path string) (driver.Web, binding.ID) {
	for _, id := range slices.Sorted(maps.Keys(d.open)) {
		if w, ok := d.open[id].(driver.Web); ok && w.Serves(path) {
			return w, id
		}
	}
	return nil, ""
}

// pausing is a driver that can close its files, and opens them again when they are used.
type pausing interface{ Pause() error }

// Pause closes the files that can be opened again by their next use.
func (d *Drivers) Pause() error {
	var errs []error
	for _, one := range d.open { // order-independent: each has files of its own
		if p, ok := one.(pausing); ok {
			errs = append(errs, p.Pause())
		}
	}
	return errors.Join(errs...)
}

// Close closes them.
func (d *Drivers) Close() error {
	if d == nil {
		return nil
	}
	var errs []error
	for _, one := range d.open { // order-independent: each has files of its own
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}
