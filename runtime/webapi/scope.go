package webapi

import (
	"github.com/dop251/goja"
)

// installScope defines what describes the global scope itself, and small
// interfaces of it that have no file of their own.
func (p *Platform) installScope() {
	p.Engine.Global("origin", p.VM.ToValue("null"))
	p.Engine.LazyGlobal("Cloudflare", p.makeCloudflare)
	p.lang.InstallDisposables()
	p.urls.InstallPattern(p.regexps.Ctor)
	p.html.Install()
}

// makeCloudflare is the object Cloudflare: compatibilityFlags answers for
// every flag by name (workerd: api/global-scope.h, class Cloudflare).
func (p *Platform) makeCloudflare() goja.Value {
	return p.Record("compatibilityFlags", p.VM.NewDynamicObject(compatFlags{p}))
}

// compatFlags shows the flags that are on as properties; which there are, only
// Options.Compat knows, so they are not listed.
type compatFlags struct{ p *Platform }

// Get implements goja.DynamicObject.
func (c compatFlags) Get(flag string) goja.Value {
	if c.Has(flag) {
		return c.p.VM.ToValue(true)
	}
	return nil
}

// Set implements goja.DynamicObject.
func (c compatFlags) Set(string, goja.Value) bool { return false }

// Has implements goja.DynamicObject.
func (c compatFlags) Has(flag string) bool { return c.p.Compat != nil && c.p.Compat(flag) }

// Delete implements goja.DynamicObject.
func (c compatFlags) Delete(string) bool { return false }

// Keys implements goja.DynamicObject.
func (c compatFlags) Keys() []string { return nil }
