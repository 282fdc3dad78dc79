// Package url is URL and URLSearchParams (the URL standard, with IDNA of UTS 46)
// and URLPattern. Parse serves what else reads URLs.
package url

import (
	"errors"

	"github.com/dop251/goja"
	"github.com/nlnwa/whatwg-url/url"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// Classes are the classes of one isolate. Loop-confined.
type Classes struct {
	*webidl.Realm

	class  func() *engine.Class[*webURL]
	params func() *engine.Class[*SearchParams]
	regexp *goja.Object // the constructor for URLPattern
}

// New makes the part; Install defines its globals.
func New(r *webidl.Realm) *Classes { return &Classes{Realm: r} }

// webURL is a URL object (WHATWG URL, section 6.1). Loop-confined.
type webURL struct {
	plain  plainURL // the URL as long as u is nil
	u      *url.Url
	params *SearchParams // made at first use; follows u
	behind bool          // params have changed, and u has not yet
	object *goja.Object  // the URLSearchParams object of params
}

// Install defines URL and URLSearchParams.
func (p *Classes) Install() {
	p.class = webidl.Lazily(p.Engine, p.defineURL)
	p.params = webidl.Lazily(p.Engine, p.defineSearchParams)
	p.LazyClass("URL", func() *goja.Object { return p.class().Ctor })
	p.LazyClass("URLSearchParams", func() *goja.Object { return p.params().Ctor })
}

var errNoBase = errors.New("the base is empty")

// input is what is to be parsed as a URL, or as a part of one.
func (p *Classes) input(v goja.Value) string {
	text := p.USV(v)
	if tooLong(text) {
		p.Engine.Throw("RangeError", "%v", errTooLong)
	}
	return text
}

// parseAgainst parses input against an optional base; err says what is wrong.
func (p *Classes) parseAgainst(input string, base goja.Value) (*webURL, error) {
	text := ""
	if !webidl.IsUndefined(base) {
		if text = p.input(base); text == "" {
			return nil, errNoBase
		}
	} else if plain, ok := parsePlain(input); ok {
		return &webURL{plain: plain}, nil
	}
	u, err := Parse(input, text)
	if err != nil {
		return nil, err
	}
	return &webURL{u: u}, nil
}

// parsed is the URL in the parser's form, to be changed.
// catchUp writes params that have changed into the URL, before it is looked at.
func (w *webURL) catchUp() {
	if w.behind {
		w.behind = false
		w.parsed().SetSearch(w.params.Encoded())
	}
}

func (w *webURL) parsed() *url.Url {
	w.catchUp()
	if w.u == nil {
		u, err := Parse(w.plain.href, "")
		if err != nil {
			panic("a plain URL does not parse: " + w.plain.href)
		}
		w.u = u
	}
	return w.u
}

func (w *webURL) href() string {
	w.catchUp()
	if w.u == nil {
		return w.plain.href
	}
	return Href(w.u)
}

func (w *webURL) query() string {
	w.catchUp()
	if w.u == nil {
		return w.plain.search()
	}
	return w.u.Search()
}

func (p *Classes) defineURL() *engine.Class[*webURL] {
	vm := p.VM
	part := func(name string, plain func(u plainURL) string, get func(u *url.Url) string, set func(u *url.Url, v string)) engine.Accessor[*webURL] {
		a := engine.Accessor[*webURL]{Name: name, Get: func(w *webURL, _ *goja.Object) goja.Value {
			w.catchUp()
			if w.u == nil {
				return vm.ToValue(plain(w.plain))
			}
			return vm.ToValue(get(w.u))
		}}
		if set != nil {
			a.Set = func(w *webURL, _ *goja.Object, v goja.Value) { set(w.parsed(), p.input(v)) }
		}
		return a
	}
	search := part("search", plainURL.search, (*url.Url).Search, nil)
	search.Set = func(w *webURL, _ *goja.Object, v goja.Value) {
		w.parsed().SetSearch(p.input(v))
		w.refresh()
	}
	href := part("href", func(u plainURL) string { return u.href }, Href, nil)
	href.Set = func(w *webURL, _ *goja.Object, v goja.Value) {
		u, err := Parse(p.input(v), "")
		if err != nil {
			p.Engine.Throw("TypeError", "Failed to set the 'href' property on 'URL': the provided value is not of type 'valid URL string'.")
		}
		w.u, w.behind = u, false
		w.refresh()
	}
	class := engine.DefineClass(p.Engine, engine.ClassDef[*webURL]{
		Name: "URL",
		New: func(call goja.ConstructorCall) *webURL {
			if len(call.Arguments) == 0 {
				p.BadConstruct("URL", 1, "USVString")
			}
			w, err := p.parseAgainst(p.input(call.Arguments[0]), call.Argument(1))
			if err != nil {
				p.Engine.Throw("TypeError", "Invalid URL string.")
			}
			return w
		},
		Accessors: []engine.Accessor[*webURL]{
			part("origin", plainURL.origin, Origin, nil),
			href,
			part("protocol", plainURL.protocol, (*url.Url).Protocol, (*url.Url).SetProtocol),
			part("username", plainURL.username, (*url.Url).Username, (*url.Url).SetUsername),
			part("password", plainURL.password, (*url.Url).Password, (*url.Url).SetPassword),
			part("host", plainURL.host, (*url.Url).Host, (*url.Url).SetHost),
			part("hostname", plainURL.hostname, (*url.Url).Hostname, (*url.Url).SetHostname),
			part("port", plainURL.port, (*url.Url).Port, (*url.Url).SetPort),
			part("pathname", plainURL.pathname, (*url.Url).Pathname, (*url.Url).SetPathname),
			search,
			part("hash", plainURL.hash, (*url.Url).Hash, (*url.Url).SetHash),
			{Name: "searchParams", Get: func(w *webURL, _ *goja.Object) goja.Value { return p.paramsOf(w) }},
		},
		Methods: []engine.Method[*webURL]{
			{Name: "toString", Fn: func(w *webURL, _ goja.FunctionCall) goja.Value { return vm.ToValue(w.href()) }},
			{Name: "toJSON", Fn: func(w *webURL, _ goja.FunctionCall) goja.Value { return vm.ToValue(w.href()) }},
		},
		Statics: []engine.Func{
			{Name: "canParse", Fn: func(call goja.FunctionCall) goja.Value {
				p.Need(call, 1, "URL", "canParse", "USVString")
				_, err := p.parseAgainst(p.input(call.Arguments[0]), call.Argument(1))
				return vm.ToValue(err == nil)
			}},
			{Name: "parse", Fn: func(call goja.FunctionCall) goja.Value {
				p.Need(call, 1, "URL", "parse", "USVString")
				w, err := p.parseAgainst(p.input(call.Arguments[0]), call.Argument(1))
				if err != nil {
					return goja.Null()
				}
				return p.class().Wrap(w)
			}},
			p.noObjectURL("createObjectURL"), p.noObjectURL("revokeObjectURL"),
		},
	})
	return class
}

// noObjectURL is a function that workerd has only to refuse it.
func (p *Classes) noObjectURL(name string) engine.Func {
	return engine.Func{Name: name, Fn: func(goja.FunctionCall) goja.Value {
		p.Engine.Throw("Error", "URL.%s() is not implemented", name) // reference's text
		return nil
	}}
}

// Href is the serialized URL.
func Href(u *url.Url) string { return u.Href(false) }

// originOf is the serialized origin: opaque ("null") but for the special
// schemes, and for blob: Classes that of the URL inside.
func Origin(u *url.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	case "blob":
		if inner, err := Parse(u.Pathname(), ""); err == nil && (inner.Scheme() == "http" || inner.Scheme() == "https") {
			return Origin(inner)
		}
	}
	return "null"
}

// paramsOf is url.searchParams: one object that follows the URL.
func (p *Classes) paramsOf(w *webURL) *goja.Object {
	if w.object == nil {
		w.params = &SearchParams{url: w, list: ParseQuery(trimQuery(w.query()))}
		w.object = p.params().Wrap(w.params)
	}
	return w.object
}

// refresh makes searchParams follow a new query.
func (w *webURL) refresh() {
	if w.params != nil {
		w.params.list = ParseQuery(trimQuery(w.query()))
	}
}

func trimQuery(s string) string {
	if len(s) > 0 && s[0] == '?' {
		return s[1:]
	}
	return s
}
