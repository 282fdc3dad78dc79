package cfapi

import (
	"net/http"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/webapi/fetch"
	"minido.dev/minido/runtime/webidl"
)

// putBody is the type of put()'s second argument, in the text for one that is missing.
const putBody = "JsReadableStream or string or BufferSource or Blob or FormData or URLSearchParams or URLSearchParams or JsUrlSearchParams or AsyncGenerator"

// verbs are the methods of stubs that are named after HTTP's. Confined to the loop.
type verbs struct{ *API }

// nativeVerb is native.verb(handle, verb, args): get(url, type), put(url, body, options) and
// delete(url) of a stub, which it has before the flag fetcher_no_get_put_delete (workerd:
// src/workerd/api/http.c++, Fetcher). It gives a promise and never throws.
func (a verbs) nativeVerb(call goja.FunctionCall) goja.Value {
	handle, verb, args := call.Argument(0), call.Argument(1).String(), a.Platform.List(call.Argument(2))
	return a.Platform.Promise(func() goja.Value {
		given := goja.FunctionCall{Arguments: args}
		a.Platform.Need(given, 1, "Fetcher", verb, "string")
		url := given.Argument(0).String()
		init := a.Platform.Record("method", strings.ToUpper(verb))
		if verb == "put" {
			a.Platform.Need(given, 2, "Fetcher", verb, putBody)
			url += a.expiration(url, given.Argument(2))
			init.Set("body", given.Argument(1))
		}
		promise, resolve, reject := a.Engine.NewPromise()
		fail := func(reason goja.Value) { _ = reject(reason) } // what ends its jobs abruptly ends the turn
		sent := fetchThrough(a.API, handle, a.vm.ToValue(url), init, a.FromError)
		a.Engine.Follow(sent, func(v goja.Value) {
			var result goja.Value
			if thrown := a.Engine.Try(func() { result = a.verbResult(verb, v, given.Argument(1)) }); thrown != nil {
				fail(thrown)
				return
			}
			_ = resolve(result)
		}, fail)
		return a.vm.ToValue(promise)
	})
}

// expiration is what the options of put() add to its URL.
func (a verbs) expiration(url string, options goja.Value) string {
	if webidl.IsMissing(options) {
		return ""
	}
	if _, ok := options.(*goja.Object); !ok {
		a.Platform.BadArgument("Fetcher", "put", 3, "PutOptions")
	}
	added := ""
	for _, option := range [][2]string{{"expiration", "expiration"}, {"expirationTtl", "expiration_ttl"}} {
		v := webidl.Get(options, option[0])
		if goja.IsUndefined(v) {
			continue
		}
		separator := "&"
		if added == "" && !strings.Contains(url, "?") {
			separator = "?"
		}
		added += separator + option[1] + "=" + a.vm.ToValue(a.Platform.Int32(v)).String()
	}
	return added
}

// verbResult is what a method of nativeVerb makes of the response: undefined, or for get
// its body in the form that kind names, null for a value that is not there.
func (a verbs) verbResult(verb string, response, kind goja.Value) goja.Value {
	r, _ := a.Platform.Fetch.ResponseOf(response)
	switch missing := r.Status() == http.StatusNotFound || r.Status() == http.StatusGone; {
	case verb == "get" && missing:
		return goja.Null()
	case r.Status() < 200 || r.Status() > 299:
		a.Engine.Throw("Error", "HTTP %s request failed: %d %s", strings.ToUpper(verb), r.Status(), r.StatusText())
	case verb != "get":
		return goja.Undefined()
	}
	form := "text"
	if !goja.IsUndefined(kind) {
		form = kind.String()
	}
	return a.bodyAs(r, form)
}

func (a verbs) bodyAs(r *fetch.Response, form string) goja.Value {
	p := a.Platform
	switch form {
	case "text":
		return p.Fetch.ReadAll(r, form, p.DecodeUTF8)
	case "json":
		return p.Fetch.ReadAll(r, form, func(data []byte) goja.Value {
			return a.Engine.Call(a.Engine.Primordial("JSONParse"), goja.Undefined(), p.DecodeUTF8(data))
		})
	case "arrayBuffer":
		return p.Fetch.ReadAll(r, form, p.NewArrayBuffer)
	case "stream":
		if stream := p.Fetch.Stream(r); stream != nil {
			return stream
		}
		return goja.Null()
	}
	a.Engine.Throw("TypeError", `Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".`)
	return nil
}
