package webapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
)

// installScope defines what describes the global scope itself, and small
// interfaces of it that have no file of their own.
func (p *Platform) installScope() {
	p.Engine.Global("origin", p.VM.ToValue("null"))
	if !p.Enabled(compat.NoGlobalImportscripts) {
		p.Engine.Global("importScripts", p.Engine.Func("importScripts", 0, func(goja.FunctionCall) goja.Value {
			p.Engine.Throw("Error", "Failed to execute 'importScripts' on 'WorkerGlobalScope': the method is not implemented.") // reference's text
			return nil
		}))
	}
	p.Engine.LazyGlobal("Cloudflare", p.makeCloudflare)
	p.lang.InstallDisposables()
	p.urls.InstallPattern(p.regexps.Ctor)
}

// makeCloudflare is the object Cloudflare: compatibilityFlags has every flag by
// the name that switches it on (workerd: api/global-scope.h, class Cloudflare).
func (p *Platform) makeCloudflare() goja.Value {
	flags := p.VM.CreateObject(nil)
	for _, f := range compat.Flags() {
		flags.DefineDataProperty(f.String(), p.VM.ToValue(p.Enabled(f)), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
	}
	p.Engine.Call(p.Engine.Primordial("ObjectPreventExtensions"), goja.Undefined(), flags)
	return p.Record("compatibilityFlags", flags)
}
