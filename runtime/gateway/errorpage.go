package gateway

import (
	"cmp"
	"errors"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/event"
)

// fail answers with the error that kept the worker from giving a response: as
// text, or as a page for a browser.
func (x *exchange) fail(err error) {
	title, stack := describe(err)
	if !strings.Contains(strings.Join(x.r.Header["Accept"], ","), "text/html") {
		text := title
		if stack != "" {
			text += "\n" + stack
		}
		x.page(http.StatusInternalServerError, event.Header{{Name: "Content-Type", Value: "text/plain; charset=utf-8"}}, text+"\n")
		return
	}
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Error in the worker</title>\n<style>" +
		"body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:3rem auto;padding:0 1rem;color:#222;background:#fff}" +
		"h1{font-size:1.2rem;color:#b00020;overflow-wrap:anywhere}pre{background:#f4f4f4;padding:1rem;overflow:auto}" +
		"@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}h1{color:#ff8a80}pre{background:#2a2a2a}}" +
		"</style></head>\n<body><h1>")
	b.WriteString(html.EscapeString(title))
	b.WriteString("</h1>\n<p>The worker failed to answer <code>" + html.EscapeString(x.r.Method+" "+x.r.URL.EscapedPath()) + "</code>.</p>\n")
	if stack != "" {
		b.WriteString("<pre>" + html.EscapeString(stack) + "</pre>\n")
	}
	b.WriteString("</body></html>\n")
	x.page(http.StatusInternalServerError, event.Header{{Name: "Content-Type", Value: "text/html; charset=utf-8"}}, b.String())
}

// describe splits an error into its first line and the frames below it.
func describe(err error) (title, stack string) {
	title = err.Error()
	var e *event.Error
	if !errors.As(err, &e) {
		return title, ""
	}
	if e.Name == "" || e.Name == "Error" {
		title = "Error: " + e.Message
	}
	// JavaScript's stack repeats name and message before its frames.
	stack = strings.TrimRight(strings.TrimPrefix(e.Stack, title), "\n")
	return title, strings.TrimLeft(stack, "\n")
}

// page writes a response of the gateway's own.
func (x *exchange) page(status int, header event.Header, text string) {
	points := x.g.opts.Points
	h := x.w.Header()
	h["Date"] = nil
	for _, f := range header {
		h[f.Name] = []string{f.Value}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	err := points.Effect(killpoint.Response, "", cmp.Or(x.cause, "fetch"), func() error {
		x.w.WriteHeader(status)
		if _, err := io.WriteString(x.w, text); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
			return err
		}
		if !points.On() {
			return nil
		}
		return x.w.FlushError()
	})
	x.headWritten(status)
	if err != nil {
		x.broken(nil)
	}
	x.end()
}
