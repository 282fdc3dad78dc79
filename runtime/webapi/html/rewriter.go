// Package html is HTMLRewriter: it tokenizes documents as they arrive, selects
// elements and passes them to handlers (workerd: api/html-rewriter.h).
package html

import (
	_ "embed"
	"slices"

	"github.com/dop251/goja"
	"golang.org/x/net/html"
	textencoding "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/encoding"
	"minido.dev/minido/runtime/webapi/mime"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webidl"
)

//go:embed js/htmlrewriter.js
var rewriterSource string

var rewriterPrelude = engine.NewPrelude("htmlrewriter.js", rewriterSource)

// Host is what the rewriter needs of fetch. Loop-confined.
type Host interface {
	// Rewritten makes the response that v is, with another body; ok is false if v
	// is no Response. start is called unless there is no body, with the charset
	// that its type names, and what it returns is called with the stream of the body.
	Rewritten(v goja.Value, start func(charset string, named bool) func(stream *goja.Object) *goja.Object) (out goja.Value, ok bool)
	// IsResponse tells what a content may be read from, streams apart.
	IsResponse(v goja.Value) bool
}

// Rewriters is HTMLRewriter in one isolate. Loop-confined.
type Rewriters struct {
	*webidl.Realm

	host      Host
	streams   *streams.Streams
	encodings *encoding.Classes
}

// New makes the part; Install defines its class.
func New(r *webidl.Realm, host Host, streams *streams.Streams, encodings *encoding.Classes) *Rewriters {
	return &Rewriters{r, host, streams, encodings}
}

// Install defines HTMLRewriter.
func (p *Rewriters) Install() { p.LazyClass("HTMLRewriter", p.htmlRewriterClass) }

// htmlRewriter is an HTMLRewriter (workerd: api/html-rewriter.h). Loop-confined.
type htmlRewriter struct {
	selectors [][]*selector
	elements  []contentHandlers // of each selector
	documents []contentHandlers
}

// contentHandlers are the functions of one object of handlers, by name, and the
// object itself as "self". Immutable.
type contentHandlers map[string]goja.Value

// contentHandlersOf reads the members of a dictionary of handlers.
func (p *Rewriters) contentHandlersOf(v goja.Value, method string, n int, typ string, members ...string) contentHandlers {
	obj, ok := v.(*goja.Object)
	if !ok && !webidl.IsMissing(v) {
		p.BadArgument("HTMLRewriter", method, n, typ)
	}
	h := contentHandlers{"self": v}
	for _, name := range members {
		if !ok {
			break
		}
		fn := obj.Get(name)
		if webidl.IsUndefined(fn) {
			continue
		}
		if !engine.IsCallable(fn) {
			p.Engine.Throw("TypeError", "Incorrect type for the '%s' field on '%s': the provided value is not of type 'function'.", name, typ)
		}
		h[name] = fn
	}
	return h
}

// htmlRewriterClass makes the class.
func (p *Rewriters) htmlRewriterClass() *goja.Object {
	rewrite := webidl.Lazily(p.Engine, func() goja.Value { return p.Engine.Load(rewriterPrelude, p.rewriterNative()) })
	return engine.DefineClass(p.Engine, engine.ClassDef[*htmlRewriter]{
		Name: "HTMLRewriter",
		New:  func(goja.ConstructorCall) *htmlRewriter { return &htmlRewriter{} },
		Methods: []engine.Method[*htmlRewriter]{
			{Name: "on", Fn: func(r *htmlRewriter, call goja.FunctionCall) goja.Value {
				p.Need(call, 1, "HTMLRewriter", "on", "string")
				p.Need(call, 2, "HTMLRewriter", "on", "ElementContentHandlers")
				text := p.ToString(call.Arguments[0]).String()
				h := p.contentHandlersOf(call.Arguments[1], "on", 2, "ElementContentHandlers", "element", "comments", "text")
				list, err := parseSelectors(text)
				if err != nil {
					p.Engine.Throw("TypeError", "Parser error: %s", err)
				}
				r.selectors, r.elements = append(r.selectors, list), append(r.elements, h)
				return call.This
			}},
			{Name: "onDocument", Fn: func(r *htmlRewriter, call goja.FunctionCall) goja.Value {
				p.Need(call, 1, "HTMLRewriter", "onDocument", "DocumentContentHandlers")
				r.documents = append(r.documents, p.contentHandlersOf(call.Arguments[0], "onDocument", 1, "DocumentContentHandlers", "doctype", "comments", "text", "end"))
				return call.This
			}},
			{Name: "transform", Fn: func(r *htmlRewriter, call goja.FunctionCall) goja.Value {
				return p.rewriteResponse(r, call.Argument(0), rewrite())
			}},
		},
	}).Ctor
}

// rewriteResponse makes the response whose body is that of v, rewritten as it
// comes in.
func (p *Rewriters) rewriteResponse(r *htmlRewriter, v, rewrite goja.Value) goja.Value {
	list := func(all []contentHandlers) goja.Value {
		items := make([]any, len(all))
		for i, h := range all {
			obj := p.VM.NewObject()
			for _, name := range []string{"self", "element", "doctype", "comments", "text", "end"} {
				if h[name] != nil {
					obj.Set(name, h[name])
				}
			}
			items[i] = obj
		}
		return p.VM.NewArray(items...)
	}
	out, ok := p.host.Rewritten(v, func(charset string, named bool) func(*goja.Object) *goja.Object {
		run := p.newRewriting(r, charset, named)
		return func(stream *goja.Object) *goja.Object {
			return p.Engine.Call(rewrite, goja.Undefined(), run.native(), stream, list(r.elements), list(r.documents)).(*goja.Object)
		}
	})
	if !ok {
		p.BadArgument("HTMLRewriter", "transform", 1, "Response")
	}
	return out
}

// rewriting is one document on its way through a rewriter: what has come in is
// split, what no handler asks for is written as it is, and the prelude is given
// the rest. Loop-confined.
type rewriting struct {
	p        *Rewriters
	elements []contentHandlers // of each selector
	document contentHandlers   // which handlers any of the document's have
	splitter *htmlSplitter
	decoder  *encoding.TextDecoder // nil: the document is UTF-8
	encoder  *textencoding.Encoder // as decoder
	tokens   []htmlToken
	current  htmlToken // the one that the prelude has
	hidden   int       // how many elements around lose their content
	out      []byte
}

// newRewriting starts with the encoding that the response names.
func (p *Rewriters) newRewriting(r *htmlRewriter, charset string, named bool) *rewriting {
	run := &rewriting{p: p, elements: r.elements, document: contentHandlers{}, splitter: newHTMLSplitter(r.selectors)}
	for _, h := range r.documents {
		for name, fn := range h {
			run.document[name] = fn
		}
	}
	if !named {
		return run
	}
	decoder, err := encoding.NewDecoder(charset)
	if err != nil {
		p.Engine.Throw("TypeError", "Parser error: Unknown character encoding has been provided.")
	}
	switch decoder.Name {
	case "utf-8":
		return run
	case "utf-16le", "utf-16be", "iso-2022-jp":
		p.Engine.Throw("TypeError", "Parser error: Expected ASCII-compatible encoding.")
	}
	if enc, err := htmlindex.Get(decoder.Name); err == nil {
		run.decoder, run.encoder = decoder, textencoding.HTMLEscapeUnsupported(enc.NewEncoder())
	}
	return run
}

// feed takes bytes of the document; last says that they are its end.
func (r *rewriting) feed(data []byte, last bool) {
	if r.decoder != nil {
		text, _ := r.decoder.Decode(data, last)
		data = []byte(r.p.encodings.Value(text).String())
	}
	r.tokens = append(r.tokens, r.splitter.feed(data, last)...)
}

// write adds text to the output, in the document's encoding.
func (r *rewriting) write(text string) {
	if r.hidden > 0 {
		return
	}
	if r.encoder != nil {
		if encoded, err := r.encoder.String(text); err == nil {
			text = encoded
		}
	}
	r.out = append(r.out, text...)
}

// asked reports whether a handler wants the token.
func (r *rewriting) asked(t htmlToken) bool {
	within := func(name string) bool {
		return r.document[name] != nil || slices.ContainsFunc(t.matches, func(i int) bool { return r.elements[i][name] != nil })
	}
	switch t.kind {
	case html.StartTagToken:
		return len(t.matches) > 0
	case html.EndTagToken:
		return len(t.closes) > 0
	case html.TextToken:
		return within("text")
	case html.CommentToken:
		return within("comments")
	}
	return t.kind == html.DoctypeToken && r.document["doctype"] != nil
}

// next gives the next token that a handler wants, undefined if there is none
// yet.
func (r *rewriting) next() goja.Value {
	for i, t := range r.tokens {
		if r.asked(t) {
			r.current, r.tokens = t, r.tokens[i+1:]
			return r.p.tokenObject(t)
		}
		r.write(t.raw)
	}
	r.tokens = nil
	return goja.Undefined()
}

// native is the `run` of the prelude.
func (r *rewriting) native() *goja.Object {
	do := func(name string, fn func(v goja.Value) goja.Value) engine.Func {
		return engine.Func{Name: name, Fn: func(call goja.FunctionCall) goja.Value { return fn(call.Argument(0)) }}
	}
	return r.p.Engine.Native(
		do("feed", func(v goja.Value) goja.Value {
			data, ok := r.p.BytesOf(v)
			if text, isString := v.(goja.String); isString {
				data, ok = []byte(webidl.UTF8Of(text)), true
			}
			if !ok && !goja.IsUndefined(v) {
				r.p.Engine.Throw("TypeError", streams.TextNotBytes)
			}
			r.feed(data, goja.IsUndefined(v))
			return goja.Undefined()
		}),
		do("next", func(goja.Value) goja.Value { return r.next() }),
		do("raw", func(goja.Value) goja.Value { r.write(r.current.raw); return goja.Undefined() }),
		do("write", func(v goja.Value) goja.Value { r.write(webidl.UTF8Of(r.p.ToString(v))); return goja.Undefined() }),
		do("hide", func(by goja.Value) goja.Value { r.hidden += int(by.ToInteger()); return goja.Undefined() }),
		do("take", func(goja.Value) goja.Value {
			if len(r.out) == 0 {
				return goja.Undefined()
			}
			out := r.out
			r.out = nil
			return r.p.NewUint8Array(out)
		}),
	)
}

// rewriterNative is the `native` of the prelude.
func (p *Rewriters) rewriterNative() *goja.Object {
	native := p.Engine.Native(
		engine.Func{Name: "lower", Fn: func(call goja.FunctionCall) goja.Value {
			return p.VM.ToValue(mime.LowerASCII(p.ToString(call.Argument(0)).String()))
		}},
		engine.Func{Name: "settles", Fn: func(call goja.FunctionCall) goja.Value { // whether a handler's result is waited for
			return p.VM.ToValue(p.Enabled(compat.UnwrapCustomThenables) || p.Engine.Settles(call.Argument(0)))
		}},
		engine.Func{Name: "isBodySource", Fn: func(call goja.FunctionCall) goja.Value {
			return p.VM.ToValue(p.host.IsResponse(call.Argument(0)) || p.streams.Is(call.Argument(0)))
		}},
		engine.Func{Name: "textOf", Fn: func(call goja.FunctionCall) goja.Value {
			v := call.Argument(0)
			if p.streams.Is(v) {
				v = p.Construct("Response", v)
			}
			return p.Invoke(v.(*goja.Object), "text")
		}},
	)
	native.Set("ReadableStream", p.streams.Class("ReadableStream"))
	return native
}

// tokenObject makes a token's JavaScript object.
func (p *Rewriters) tokenObject(t htmlToken) *goja.Object {
	list := func(numbers []int) goja.Value {
		items := make([]any, len(numbers))
		for i, n := range numbers {
			items[i] = n
		}
		return p.VM.NewArray(items...)
	}
	obj := p.Record("kind", int(t.kind), "matches", list(t.matches))
	switch t.kind {
	case html.StartTagToken:
		attrs := make([]any, len(t.attrs))
		for j, a := range t.attrs {
			attrs[j] = p.Record("name", webidl.ValidUTF8([]byte(a.name)), "value", webidl.ValidUTF8([]byte(a.value)), "raw", a.raw)
		}
		obj = p.Record("kind", int(t.kind), "matches", list(t.matches), "name", t.name, "id", t.id, "space", t.space,
			"alone", t.alone, "slash", t.slash, "attrs", p.VM.NewArray(attrs...))
	case html.EndTagToken:
		obj.Set("name", t.name)
		obj.Set("closes", list(t.closes))
	case html.TextToken:
		obj.Set("text", webidl.ValidUTF8([]byte(t.raw)))
		obj.Set("last", t.last)
	case html.CommentToken:
		obj.Set("text", webidl.ValidUTF8([]byte(commentText(t.raw))))
	case html.DoctypeToken:
		obj.Set("name", t.name)
		for j, name := range []string{"publicId", "systemId"} {
			obj.Set(name, goja.Null())
			if t.doctype[j] != nil {
				obj.Set(name, *t.doctype[j])
			}
		}
	}
	return obj
}
