package webapi

import (
	_ "embed"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/net/html"

	"minido.dev/minido/runtime/engine"
)

//go:embed js/htmlrewriter.js
var rewriterSource string

var rewriterPrelude = engine.NewPrelude("htmlrewriter.js", rewriterSource)

// htmlRewriter is an HTMLRewriter (workerd: api/html-rewriter.h). Loop-confined.
type htmlRewriter struct {
	selectors [][]*selector
	elements  []any // the handlers of each selector
	documents []any
}

// htmlRewriterClass makes the class. A document is read whole before its first
// handler runs; what handlers make of it is then streamed.
func (p *Platform) htmlRewriterClass() *goja.Object {
	var class *engine.Class[*htmlRewriter]
	handlers := func(v goja.Value, method string, n int) *goja.Object {
		obj, ok := v.(*goja.Object)
		if !ok {
			p.badArgument("HTMLRewriter", method, n, "ElementContentHandlers")
		}
		return obj
	}
	rewrite := lazily(p.Engine, func() goja.Value { return p.Engine.Load(rewriterPrelude, p.rewriterNative()) })
	class = engine.DefineClass(p.Engine, engine.ClassDef[*htmlRewriter]{
		Name: "HTMLRewriter",
		New:  func(goja.ConstructorCall) *htmlRewriter { return &htmlRewriter{} },
		Methods: []engine.Method[*htmlRewriter]{
			{Name: "on", Length: 2, Fn: func(r *htmlRewriter, call goja.FunctionCall) goja.Value {
				p.need(call, 2, "HTMLRewriter", "on", "ElementContentHandlers")
				list, err := parseSelectors(p.toString(call.Arguments[0]).String())
				if err != nil {
					p.Engine.Throw("TypeError", "Parser error: %s", err)
				}
				r.selectors, r.elements = append(r.selectors, list), append(r.elements, handlers(call.Arguments[1], "on", 2))
				return call.This
			}},
			{Name: "onDocument", Length: 1, Fn: func(r *htmlRewriter, call goja.FunctionCall) goja.Value {
				r.documents = append(r.documents, handlers(call.Argument(0), "onDocument", 1))
				return call.This
			}},
			{Name: "transform", Length: 1, Fn: func(r *htmlRewriter, call goja.FunctionCall) goja.Value {
				resp, ok := p.Engine.Attached(call.Argument(0)).(*response)
				if !ok {
					p.badArgument("HTMLRewriter", "transform", 1, "Response")
				}
				return p.rewriteResponse(r, resp, rewrite())
			}},
		},
	})
	return class.Ctor
}

// rewriteResponse makes the response whose body is that of resp, rewritten.
func (p *Platform) rewriteResponse(r *htmlRewriter, resp *response, rewrite goja.Value) goja.Value {
	out := &response{status: resp.status, statusText: resp.statusText, url: resp.url, redirected: resp.redirected,
		headers: copyOf(&resp.headers), cf: resp.cf.clone(p), encodeBody: resp.encodeBody}
	out.h = &out.headers
	if resp.kind == bodyNull {
		return p.fetch.responseClass().Wrap(out)
	}
	out.headers.delete("content-length")
	selectors, elements, documents := r.selectors, p.vm.NewArray(r.elements...), p.vm.NewArray(r.documents...)
	content := p.promise(func() goja.Value {
		return p.consume(&resp.body, "HTMLRewriter", func(data []byte) goja.Value {
			return p.tokenList(htmlTokens(data, selectors))
		})
	})
	stream := p.Engine.Call(rewrite, goja.Undefined(), content, elements, documents).(*goja.Object)
	p.adoptStream(&out.body, stream)
	return p.fetch.responseClass().Wrap(out)
}

// tokenList makes the tokens' JavaScript objects.
func (p *Platform) tokenList(tokens []htmlToken) goja.Value {
	list := make([]any, len(tokens))
	for i, t := range tokens {
		obj := p.record("kind", int(t.kind), "raw", validUTF8([]byte(t.raw)), "name", t.name, "opener", t.opener, "alone", t.alone)
		matches := make([]any, len(t.matches))
		for j, m := range t.matches {
			matches[j] = m
		}
		obj.Set("matches", p.vm.NewArray(matches...))
		switch t.kind {
		case html.StartTagToken:
			attrs := make([]any, len(t.attrs))
			for j, a := range t.attrs {
				attrs[j] = p.record("name", a.name, "value", a.value, "raw", a.raw)
			}
			obj.Set("attrs", p.vm.NewArray(attrs...))
			obj.Set("selfClosing", strings.HasSuffix(t.raw, "/>"))
		case html.CommentToken:
			obj.Set("text", commentText(t.raw))
		case html.DoctypeToken:
			for j, name := range []string{"publicId", "systemId"} {
				var v goja.Value = goja.Null()
				if t.doctype[j] != "" {
					v = p.vm.ToValue(t.doctype[j])
				}
				obj.Set(name, v)
			}
		}
		list[i] = obj
	}
	return p.vm.NewArray(list...)
}

// commentText is what a comment says, also one that is written as markup.
func commentText(raw string) string {
	if text, ok := strings.CutPrefix(raw, "<!--"); ok {
		return strings.TrimSuffix(strings.TrimSuffix(text, ">"), "--")
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(raw, "<"), "!"), ">")
}

// rewriterNative is the `native` of the prelude.
func (p *Platform) rewriterNative() *goja.Object {
	text := func(name string, fn func(s string) any) engine.Func {
		return engine.Func{Name: name, Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return p.vm.ToValue(fn(p.toString(call.Argument(0)).String()))
		}}
	}
	inText := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	inAttr := strings.NewReplacer(`"`, "&quot;")
	native := p.Engine.Native(
		text("escape", func(s string) any { return inText.Replace(s) }),
		text("quote", func(s string) any { return inAttr.Replace(s) }),
		text("lower", func(s string) any { return lowerASCII(s) }),
		text("isAttributeName", func(s string) any { return s != "" && !strings.ContainsAny(s, " \t\r\n\f/>=") }),
		engine.Func{Name: "encode", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return p.newArrayBuffer([]byte(utf8Of(p.toString(call.Argument(0)))))
		}},
		engine.Func{Name: "isBodySource", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			_, isResponse := p.Engine.Attached(call.Argument(0)).(*response)
			return p.vm.ToValue(isResponse || p.isStream(call.Argument(0)))
		}},
		engine.Func{Name: "textOf", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			v := call.Argument(0)
			if p.isStream(v) {
				v = p.construct("Response", v)
			}
			return p.invoke(v.(*goja.Object), "text")
		}},
	)
	native.Set("ReadableStream", p.fetch.streams.readable().Get("classes").(*goja.Object).Get("ReadableStream"))
	return native
}
