package gateway

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
)

// Headers of wrangler dev's error page (miniflare, workers/core/constants.ts).
const (
	disablePrettyError = "Mf-Disable-Pretty-Error"
	errorStack         = "MF-Experimental-Error-Stack"
	errorStackPayload  = "MF-Experimental-Error-Stack-Payload"
)

// Surroundings is what the error page shows beside an error. Each may be nil. Calls
// come from many goroutines.
type Surroundings struct {
	// Sources are the worker's own modules, by their names in stacks.
	Sources func() map[string][]byte
	// Logs are the last lines that the worker logged, oldest first.
	Logs func() []string
	// Dashboard is the address of the dashboard, without access to it: every page of
	// the worker's can read what this page says.
	Dashboard func() string
}

// fail answers with the error that kept the worker from giving a response, in the form
// that wrangler dev chooses for the client: a page, the stack, or JSON.
func (x *exchange) fail(err error) {
	e := describe(err)
	text, kind := e.stack, "text/plain;charset=UTF-8"
	header := event.Header{}
	switch {
	case x.r.Header.Get(disablePrettyError) != "" && e.thrown:
		text, kind = e.json(), "application/json"
		header = append(header, event.Field{Name: errorStack, Value: "true"}, event.Field{Name: errorStackPayload, Value: encodeURIComponent(text)})
	case prettyError(x.r.Header):
		page, err := x.errorPage(e)
		if err != nil {
			x.g.opts.Warn("the error page: " + err.Error())
			break
		}
		text, kind = page, "text/html;charset=utf-8"
		header = append(header, event.Field{Name: "Content-Security-Policy",
			Value: "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"})
	}
	x.page(http.StatusInternalServerError, append(header, event.Field{Name: "Content-Type", Value: kind}), text)
}

// prettyError reports whether miniflare would send this client its page
// (plugins/core/errors, handlePrettyErrorRequest).
func prettyError(h http.Header) bool {
	accept := strings.ToLower(strings.Join(h["Accept"], ","))
	return !strings.Contains(strings.ToLower(h.Get("User-Agent")), "curl/") &&
		(strings.Contains(accept, "text/html") || strings.Contains(accept, "*/*") || strings.Contains(accept, "text/*"))
}

// failure is an error as a client is told of it.
type failure struct {
	name, message string
	title         string // the first line
	stack         string // the title, and the frames below it
	thrown        bool   // by the worker's own code
}

func describe(err error) failure {
	var e *event.Error
	if !errors.As(err, &e) {
		return failure{message: err.Error(), title: err.Error(), stack: err.Error()}
	}
	// What is no Error has neither name nor stack; what the platform throws has no stack.
	f := failure{message: e.Message, title: err.Error(), thrown: e.Stack != "" || e.Name == ""}
	switch {
	case e.Shown != "":
		f.title = e.Shown
	case e.Message == "":
		f.title = cmp.Or(e.Name, "Error")
	case e.Name == "" || e.Name == "Error":
		f.title = "Error: " + e.Message
	}
	f.stack = f.title
	if e.Stack != "" && e.Shown == "" {
		f.name = cmp.Or(e.Name, "Error")
		f.stack += framesOf(e, f.title)
	}
	return f
}

// framesOf are the lines of a stack below its header, which repeats name and message in
// JavaScript's way.
func framesOf(e *event.Error, title string) string {
	stack := e.Stack
	for _, header := range []string{title, e.Message} {
		if frames, ok := strings.CutPrefix(stack, header); ok && (frames == "" || frames[0] == '\n') {
			stack = frames
			break
		}
	}
	if frames := strings.Trim(stack, "\n"); frames != "" {
		return "\n" + frames
	}
	return ""
}

// json is what wrangler's middleware makes of an error. Its member cause is missing:
// errors leave the isolate without it.
func (f failure) json() string {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	told := struct {
		Name    string `json:"name,omitempty"`
		Message string `json:"message"`
		Stack   string `json:"stack,omitempty"`
	}{Name: f.name, Message: f.message}
	if f.name != "" {
		told.Stack = f.stack
	}
	if err := to.Encode(told); err != nil {
		return "{}" // not reached: strings alone
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// encodeURIComponent is ECMAScript's, as far as a header needs it.
func encodeURIComponent(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}

//go:embed errorpage.html
var errorPageText string

var errorPage = sync.OnceValues(func() (*template.Template, error) { return template.New("error").Parse(errorPageText) })

// shownHeader is a field of the request; values that open doors are left out.
type shownHeader struct{ Name, Value string }

var secretHeader = lazyregexp.New(`(?i)authorization|cookie|token|secret|api-?key`)

func (x *exchange) errorPage(f failure) (string, error) {
	page, err := errorPage()
	if err != nil {
		return "", err
	}
	around := x.g.opts.Around
	view := struct {
		Title, Stack, Where, Frame, Method, URL, Dashboard string
		Headers                                            []shownHeader
		Logs                                               []string
	}{Title: f.title, Stack: f.stack, Method: x.r.Method, URL: x.origins.inner.String() + target(x.r)}
	if around.Sources != nil {
		view.Where, view.Frame = codeFrame(f.stack, around.Sources())
	}
	if around.Logs != nil {
		view.Logs = around.Logs()
	}
	if around.Dashboard != nil {
		view.Dashboard = around.Dashboard()
	}
	for name, values := range x.r.Header { // order-independent: sorted below
		for _, value := range values {
			if secretHeader.MatchString(name) {
				value = "(not shown)"
			}
			view.Headers = append(view.Headers, shownHeader{name, value})
		}
	}
	slices.SortFunc(view.Headers, func(a, b shownHeader) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
	})
	var b strings.Builder
	err = page.Execute(&b, view)
	return b.String(), err
}

var stackPlace = lazyregexp.New(`(?m)^\s+at (?:.*\()?(.+?):(\d+):(\d+)\)?$`)

// codeFrame is the place of the first frame that lies in one of the sources, and the
// lines around it; "" if there is none.
func codeFrame(stack string, sources map[string][]byte) (where, frame string) {
	for _, m := range stackPlace.FindAllStringSubmatch(stack, -1) {
		source, ours := sources[m[1]]
		if !ours {
			continue
		}
		line, lineErr := strconv.Atoi(m[2])
		column, columnErr := strconv.Atoi(m[3])
		if lineErr != nil || columnErr != nil {
			continue // digits beyond an int: no place
		}
		return m[1] + ":" + m[2] + ":" + m[3], config.CodeFrame(source, line, column)
	}
	return "", ""
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
