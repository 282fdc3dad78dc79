// Package caches is the Cache API: caches.default, named caches, and their store.
package caches

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/exchange"
	"minido.dev/minido/runtime/webapi/fetch"
	"minido.dev/minido/runtime/webidl"
)

// cache is a Cache (workerd: api/cache.h). Loop-confined.
type cache struct{ name string }

// defaultCache cannot be the name of a cache that is opened.
const defaultCache = "\x00default"

// Caches is the Cache API in one isolate. Loop-confined.
type Caches struct {
	*webidl.Realm
	fetch *fetch.Fetch
	store *Store // nil: every use throws
}

// New defines the globals of the Cache API in a realm.
func New(r *webidl.Realm, f *fetch.Fetch, store *Store) *Caches {
	p, e := &Caches{r, f, store}, r.Engine
	e.Lazies.Global("caches", p.defineCaches)
	for _, name := range []string{"Cache", "CacheStorage"} {
		e.Lazies.Interface(name, func() goja.Value {
			p.VM.GlobalObject().Get("caches")
			return p.GlobalClass(name)
		})
	}
	return p
}

// defineCaches makes `caches`: what the Workers runtime has of the CacheStorage
// of Service Workers, by the rules of Cloudflare's documentation of the Cache API.
func (p *Caches) defineCaches() goja.Value {
	type storage struct{}
	class := p.defineCache()
	first := class.Wrap(&cache{defaultCache})
	missing := func(name string) engine.Method[storage] {
		return engine.Method[storage]{Name: name, Fn: func(storage, goja.FunctionCall) goja.Value {
			p.Engine.Throw("Error", "Failed to execute '%s' on 'CacheStorage': the method is not implemented.", name) // reference's text
			return nil
		}}
	}
	storages := engine.DefineClass(p.Engine, engine.ClassDef[storage]{
		Name: "CacheStorage",
		Own: []engine.Accessor[storage]{
			{Name: "default", Get: func(storage, *goja.Object) goja.Value { return first }},
		},
		Methods: []engine.Method[storage]{
			{Name: "open", Fn: func(_ storage, call goja.FunctionCall) goja.Value {
				return p.Promise(func() goja.Value {
					p.Need(call, 1, "CacheStorage", "open", "string")
					return class.Wrap(&cache{p.ToString(call.Arguments[0]).String()})
				})
			}},
			missing("match"), missing("has"), missing("delete"), missing("keys"),
		},
	})
	p.Engine.Interface("Cache", class.Ctor)
	p.Engine.Interface("CacheStorage", storages.Ctor)
	return storages.Wrap(storage{})
}

func (p *Caches) defineCache() *engine.Class[*cache] {
	method := func(name string, length int, fn func(c *cache, call goja.FunctionCall) goja.Value) engine.Method[*cache] {
		return engine.Method[*cache]{Name: name, Fn: func(c *cache, call goja.FunctionCall) goja.Value {
			return p.Promise(func() goja.Value {
				p.Need(call, 1, "Cache", name, "Request or string")
				p.Engine.IO("the cache")
				if p.store == nil {
					p.Engine.Throw("Error", "No Cache was configured")
				}
				return fn(c, call)
			})
		}}
	}
	missing := func(name string) engine.Method[*cache] {
		return engine.Method[*cache]{Name: name, Fn: func(*cache, goja.FunctionCall) goja.Value {
			p.Engine.Throw("Error", "Failed to execute '%s' on 'Cache': the method is not implemented.", name) // reference's text
			return nil
		}}
	}
	return engine.DefineClass(p.Engine, engine.ClassDef[*cache]{
		Name: "Cache",
		Methods: []engine.Method[*cache]{
			method("match", 1, func(c *cache, call goja.FunctionCall) goja.Value {
				asked := p.asked(call)
				p.queryOptions("match", call)
				return p.cacheMatch(c, p.fetch.RequestOf(asked), webidl.Get(call.Argument(1), "ignoreMethod").ToBoolean())
			}),
			method("put", 2, func(c *cache, call goja.FunctionCall) goja.Value {
				asked := p.asked(call)
				resp, ok := p.fetch.ResponseOf(call.Argument(1))
				if !ok {
					p.BadArgument("Cache", "put", 2, "Response")
				}
				return p.cachePut(c, p.fetch.RequestOf(asked), resp)
			}),
			method("delete", 1, func(c *cache, call goja.FunctionCall) goja.Value {
				asked := p.asked(call)
				p.queryOptions("delete", call)
				return p.cacheDelete(c, p.fetch.RequestOf(asked), webidl.Get(call.Argument(1), "ignoreMethod").ToBoolean())
			}),
			missing("add"), missing("addAll"), missing("matchAll"), missing("keys"),
		},
	})
}

// asked is the first argument, a Request or a text: arguments are converted in order,
// before the text is read as a URL.
func (p *Caches) asked(call goja.FunctionCall) goja.Value {
	v := call.Arguments[0]
	if p.fetch.IsRequest(v) {
		return v
	}
	return p.ToString(v)
}

// queryOptions checks that the second argument is a dictionary.
func (p *Caches) queryOptions(method string, call goja.FunctionCall) {
	v := call.Argument(1)
	if _, ok := v.(*goja.Object); !ok && !webidl.IsMissing(v) {
		p.BadArgument("Cache", method, 2, "CacheQueryOptions")
	}
}

// cacheKey is cf.cacheKey, or the URL without its fragment.
func (p *Caches) cacheKey(r *fetch.Request) string {
	if key := webidl.Get(p.fetch.CF(r), "cacheKey"); !webidl.IsMissing(key) {
		return key.String()
	}
	url, _, _ := strings.Cut(r.URL(), "#")
	return url
}

func (p *Caches) cacheMatch(c *cache, r *fetch.Request, ignoreMethod bool) goja.Value {
	if r.Method() != "GET" && r.Method() != "HEAD" && !ignoreMethod {
		return goja.Undefined()
	}
	p.fetch.CacheURL(r)
	found, ok, err := p.store.get(c.name, p.cacheKey(r), p.Engine.Now().UnixMilli())
	if err != nil {
		p.Engine.Throw("Error", "%s", err)
	}
	if !ok {
		return goja.Undefined()
	}
	age, _ := strconv.ParseInt(found.Header.Get("age"), 10, 64) // what is no number is 0
	if found.Stored > 0 {
		age += (p.Engine.Now().UnixMilli() - found.Stored + 500) / 1000
	}
	header := append(exchange.Without(found.Header, "age"), event.Field{Name: "CF-Cache-Status", Value: "HIT"}, event.Field{Name: "Age", Value: strconv.FormatInt(age, 10)})
	resp := &event.Response{Status: found.Status, StatusText: found.StatusText, Header: header}
	content := found.body
	switch {
	case notModified(r, found.Header):
		resp.Status, resp.StatusText, content = http.StatusNotModified, "Not Modified", nil
	case r.Header().Has("range") && found.Status == http.StatusOK:
		content = cutRange(r.Header().Get("range"), resp, content)
	}
	resp.Body = event.Bytes(content)
	return p.fetch.ResponseFromEvent(resp)
}

// notModified tells whether the client's copy is the stored one (RFC 9110,
// section 13.2.2).
func notModified(asked *fetch.Request, stored event.Header) bool {
	if tags, ok := asked.Field("if-none-match"); ok {
		etag := strings.TrimPrefix(stored.Get("etag"), "W/")
		for tag := range strings.SplitSeq(tags, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == "*" || etag != "" && tag == etag {
				return true
			}
		}
		return false
	}
	since, ok := asked.Field("if-modified-since")
	if !ok {
		return false
	}
	limit, err := http.ParseTime(since)
	changed, err2 := http.ParseTime(stored.Get("last-modified"))
	return err == nil && err2 == nil && !changed.After(limit)
}

// cutRange answers a Range header of one range of bytes; others are ignored.
func cutRange(header string, resp *event.Response, content []byte) []byte {
	spec, ok := strings.CutPrefix(header, "bytes=")
	from, to, dash := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok || !dash || strings.Contains(spec, ",") {
		return content
	}
	size := int64(len(content))
	start, err := strconv.ParseInt(from, 10, 64)
	end, err2 := strconv.ParseInt(to, 10, 64)
	switch {
	case from == "" && err2 == nil:
		start, end = max(0, size-end), size-1
	case err != nil, to != "" && err2 != nil:
		return content
	case to == "" || end >= size:
		end = size - 1
	}
	total := strconv.FormatInt(size, 10)
	if start > end {
		resp.Status, resp.StatusText = http.StatusRequestedRangeNotSatisfiable, "Range Not Satisfiable"
		resp.Header = append(exchange.Without(resp.Header, "content-length"), event.Field{Name: "Content-Range", Value: "bytes */" + total})
		return nil
	}
	resp.Status, resp.StatusText = http.StatusPartialContent, "Partial Content"
	resp.Header = append(exchange.Without(resp.Header, "content-length"),
		event.Field{Name: "Content-Range", Value: "bytes " + strconv.FormatInt(start, 10) + "-" + strconv.FormatInt(end, 10) + "/" + total})
	return content[start : end+1]
}

func (p *Caches) cachePut(c *cache, r *fetch.Request, resp *fetch.Response) goja.Value {
	refuse := func(text string) { p.Engine.Throw("TypeError", "%s", text) }
	scheme, _, _ := strings.Cut(r.URL(), ":")
	switch vary, _ := resp.Field("vary"); {
	case r.Method() != "GET":
		refuse("Cannot cache response to non-GET request.")
	case resp.Status() == http.StatusPartialContent:
		refuse("Cannot cache response to a range request (206 Partial Content).")
	case strings.Contains(vary, "*"):
		refuse("Cannot cache response with 'Vary: *' header.")
	case resp.IsHandshake():
		refuse("Cannot cache WebSocket upgrade response.")
	case scheme != "http" && scheme != "https":
		refuse("Cannot cache the response to a URL that is neither http nor https.")
	}
	entry := cached{URL: p.cacheKey(r), Status: resp.Status(), StatusText: resp.StatusText(), Header: resp.Header()}
	now := p.Engine.Now().UnixMilli()
	entry.Header = slices.DeleteFunc(slices.Clone(entry.Header), func(f event.Field) bool { return !f.Leaves() }) // as on the way to a cache that is a service
	ttl, header, storable := cacheLife(entry.Header, now)
	storable = storable && !ofSite(r.URL())
	entry.Header, entry.Stored, entry.Expires = header, now, now+ttl*1000
	return p.fetch.ReadAll(resp, "caches.put", func(data []byte) goja.Value {
		if !storable || ttl <= 0 || resp.Status() == http.StatusNotModified {
			return goja.Undefined()
		}
		entry.body = data
		if err := p.store.put(c.name, entry); err != nil {
			p.Engine.Throw("Error", "%s", err)
		}
		return goja.Undefined()
	})
}

// ofSite reports whether a URL is a key of a Workers Site's manifest. Those are not cached,
// as in miniflare: the file that is read next may be another one.
func ofSite(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	_, path, _ := strings.Cut(rest, "/")
	return strings.HasPrefix(path, "$__MINIFLARE_SITES__$/")
}

// cacheLife says for how many seconds a shared cache may keep a response, and
// with which header (RFC 9111, sections 3 and 4.2; Set-Cookie as Cloudflare has it).
func cacheLife(h event.Header, now int64) (seconds int64, kept event.Header, storable bool) {
	directives := map[string]string{}
	for _, f := range h {
		if !strings.EqualFold(f.Name, "cache-control") {
			continue
		}
		for part := range strings.SplitSeq(f.Value, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			directives[strings.ToLower(name)] = strings.Trim(value, `"`)
		}
	}
	has := func(name string) bool { _, ok := directives[name]; return ok }
	kept = h
	if strings.EqualFold(directives["private"], "set-cookie") {
		kept = exchange.Without(h, "set-cookie")
		delete(directives, "private")
	}
	if has("private") || has("no-store") || has("no-cache") || kept.Has("set-cookie") {
		return 0, kept, false
	}
	age, _ := strconv.ParseInt(h.Get("age"), 10, 64) // what is no number is 0
	for _, name := range []string{"s-maxage", "max-age"} {
		if has(name) {
			n, err := strconv.ParseInt(directives[name], 10, 64)
			return n - age, kept, err == nil
		}
	}
	if at, err := http.ParseTime(h.Get("expires")); err == nil {
		return (at.UnixMilli() - now) / 1000, kept, true
	}
	return 0, kept, false
}

func (p *Caches) cacheDelete(c *cache, r *fetch.Request, ignoreMethod bool) goja.Value {
	if r.Method() != "GET" && !ignoreMethod {
		return p.VM.ToValue(false)
	}
	p.fetch.CacheURL(r)
	found, err := p.store.remove(c.name, p.cacheKey(r), p.Engine.Now().UnixMilli())
	if err != nil {
		p.Engine.Throw("Error", "%s", err)
	}
	return p.VM.ToValue(found)
}
