// Package explorer serves wrangler dev's API below /cdn-cgi/local/explorer, through
// which tools read and edit the bindings of the running workers (miniflare:
// workers/local-explorer). Its pages are wrangler's own and are not here: `minido
// dashboard` is what people look at.
package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/workflow"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
)

// Path is where the explorer is on the worker's listener.
const Path = "/cdn-cgi/local/explorer"

// Stored is an object that has a file.
type Stored struct{ ID, Name, File string }

// NeedsObjects reports whether Fetch wants to know the objects of the running workers
// for a request: they are known on the workers' loops alone.
func NeedsObjects(req *event.Request) bool {
	return strings.Contains(req.URL, Path+"/api/workflows") || strings.Contains(req.URL, Path+"/api/workers/durable_objects/")
}

// storedKey is where a request's context has the objects.
type storedKey struct{}

// stored are the objects of a class, or of one of the platform's.
func stored(r *http.Request, class string) []Stored {
	all, _ := r.Context().Value(storedKey{}).(map[string][]Stored)
	return slices.Clone(all[class])
}

// Options are what the explorer shows. All members are required; calls come from many
// goroutines, and may block.
type Options struct {
	// Projects are the workers that run together, the primary first.
	Projects func() []*config.Project
	// Driver is what offers a kind of binding, nil if nothing does.
	Driver func(binding.ID) driver.Driver
	// Read runs a statement that reads one object's database, and gives its rows.
	Read func(file, sql string) (rows [][]any, err error)
	// Execute runs SQL in an object of a class, by its unique key, as an event of it.
	Execute func(class, object string, statements []durableobject.Statement, done func([]durableobject.Result, error))
	// Workflow asks an instance of a Workflow.
	Workflow func(name, instance string, ask workflow.Ask, done func([]byte, error))
	// Scheduled delivers a cron event to a worker of the session, by its name.
	Scheduled func(worker, cron string, at time.Time, done func(noRetry bool, err error))
	Traces    *Traces
	Entropy   entropy.Source // of the ids of new instances
	// Now is the time that workers see.
	Now func() time.Time
}

// Explorer answers requests. Safe for concurrent use.
type Explorer struct {
	opts Options
	mux  *http.ServeMux
}

// New returns an explorer.
func New(o Options) *Explorer {
	x := &Explorer{opts: o, mux: http.NewServeMux()}
	for pattern, serve := range map[string]func(*http.Request) answer{ // order-independent: patterns are told apart
		"GET /storage/kv/namespaces":                           x.kvNamespaces,
		"GET /storage/kv/namespaces/{id}/keys":                 x.kvKeys,
		"GET /storage/kv/namespaces/{id}/values/{key}":         x.kvGet,
		"PUT /storage/kv/namespaces/{id}/values/{key}":         x.kvPut,
		"DELETE /storage/kv/namespaces/{id}/values/{key}":      x.kvDelete,
		"PUT /storage/kv/namespaces/{id}/bulk":                 x.kvBulkPut,
		"POST /storage/kv/namespaces/{id}/bulk/get":            x.kvBulkGet,
		"POST /storage/kv/namespaces/{id}/bulk/delete":         x.kvBulkDelete,
		"GET /d1/database":                                     x.d1Databases,
		"POST /d1/database/{id}/raw":                           x.d1Raw,
		"GET /r2/buckets":                                      x.r2Buckets,
		"GET /r2/buckets/{bucket}/objects":                     x.r2List,
		"GET /r2/buckets/{bucket}/objects/{key}":               x.r2Get,
		"PUT /r2/buckets/{bucket}/objects/{key}":               x.r2Put,
		"DELETE /r2/buckets/{bucket}/objects/{key...}":         x.r2Delete,
		"DELETE /r2/buckets/{bucket}/objects":                  x.r2DeleteAll,
		"GET /workers/durable_objects/namespaces":              x.namespaces,
		"GET /workers/durable_objects/namespaces/{id}/objects": x.objects,
		"GET /workflows":                                       x.workflows,
		"GET /workflows/{name}":                                x.workflow,
		"GET /workflows/{name}/instances":                      x.instances,
		"POST /workflows/{name}/instances":                     x.create,
		"DELETE /workflows/{name}":                             x.deleteWorkflow,
		"POST /workflows/{name}/instances/batch/delete":        x.deleteInstances,
		"GET /workflows/{name}/instances/{id}":                 x.instance,
		"DELETE /workflows/{name}/instances/{id}":              x.deleteInstance,
		"PATCH /workflows/{name}/instances/{id}/status":        x.changeStatus,
		"POST /workflows/{name}/instances/{id}/events/{type}":  x.sendEvent,
		"POST /workers/durable_objects/namespaces/{id}/query":  x.query,
		"GET ":                  func(*http.Request) answer { return document() },
		"GET /local/workers":    x.workers,
		"POST /local/scheduled": x.scheduled,

		"POST /local/observability/query": x.traces,
		"POST /local/observability/clear": x.clearTraces,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		x.mux.HandleFunc(method+" "+Path+"/api"+path, func(w http.ResponseWriter, r *http.Request) {
			a := serve(r)
			if rec := w.(*recorder); a.later != nil {
				rec.later = a.later
				return
			}
			a.write(w)
		})
	}
	for _, pattern := range absent {
		method, path, _ := strings.Cut(pattern, "/")
		x.mux.HandleFunc(method+Path+"/api/"+path, func(w http.ResponseWriter, r *http.Request) {
			failure(http.StatusNotImplemented, codeInternal, "minido's explorer does not have "+r.Method+" "+r.URL.Path+` (see "explorer" in docs/compatibility.md)`).write(w)
		})
	}
	return x
}

// absent are parts of wrangler's API that are refused by name.
var absent = []string{
	"/flagship/", "/local/email/",
}

// The API's codes of errors.
const (
	codeInternal    = 10000
	codeInvalid     = 10001
	codeNoKey       = 10009
	codeNoNamespace = 10066
	codeNoInstance  = 10400 // of a batch
	codeNoWorkflow  = 10501
	codeDates       = 10502
)

// answer is a response: an envelope as JSON, or bytes.
type answer struct {
	// later gives the answer once it is known; the other members are empty.
	later func(done func(answer))

	status int
	header [][2]string
	body   []byte
	err    error // of making it
}

type message struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type envelope struct {
	Success    bool      `json:"success"`
	Errors     []message `json:"errors"`
	Messages   []message `json:"messages"`
	Result     any       `json:"result"`
	ResultInfo any       `json:"result_info,omitempty"`
}

func encode(status int, e envelope) answer {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	err := to.Encode(e)
	return answer{status: status, header: [][2]string{{"Content-Type", "application/json"}}, body: bytes.TrimSuffix(b.Bytes(), []byte("\n")), err: err}
}

func success(result, info any) answer {
	return encode(http.StatusOK, envelope{Success: true, Errors: []message{}, Messages: []message{}, Result: result, ResultInfo: info})
}

func failure(status, code int, text string) answer {
	return encode(status, envelope{Errors: []message{{code, text}}, Messages: []message{}})
}

// broken is for what the explorer itself could not do.
func broken(err error) answer {
	return failure(http.StatusInternalServerError, codeInternal, err.Error())
}

func (a answer) write(w http.ResponseWriter) {
	if a.err != nil {
		a = broken(a.err)
	}
	for _, f := range a.header {
		w.Header().Set(f[0], f[1])
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // into memory
}

// count is the result_info of a list.
type count struct {
	Count int `json:"count"`
}

// Fetch answers a request to Path or below it, once its body is read. objects are those
// that are stored, by class, where NeedsObjects asks for them. It blocks.
//
// A page of another origin is refused, also one of this machine, whose origin
// wrangler would take: what the explorer gives is for programs and for pages of the
// worker itself.
func (x *Explorer) Fetch(req *event.Request, body []byte, objects map[string][]Stored, done func(*event.Response)) {
	r, err := request(req, body)
	if err != nil {
		done(response(answer{status: http.StatusBadRequest, body: []byte(err.Error())}))
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		done(response(answer{status: http.StatusForbidden, body: []byte("Invalid Origin header"), header: [][2]string{{"Content-Type", "text/plain;charset=UTF-8"}}}))
		return
	}
	if _, pattern := x.mux.Handler(r); pattern == "" {
		text := "404 Not Found"
		if r.URL.Path == Path || r.URL.Path == Path+"/" {
			text = "The explorer's pages are wrangler's own. Run `minido dashboard`, or press d where `minido dev` runs."
		}
		done(response(answer{status: http.StatusNotFound, body: []byte(text), header: [][2]string{{"Content-Type", "text/plain; charset=UTF-8"}}}))
		return
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	x.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), storedKey{}, objects)))
	if w.later == nil {
		done(w.response())
		return
	}
	w.later(func(a answer) { done(response(a)) })
}

func request(req *event.Request, body []byte) (*http.Request, error) {
	u, err := url.Parse(req.URL)
	if err != nil {
		return nil, errors.New("explorer: the URL cannot be parsed")
	}
	r := &http.Request{Method: req.Method, URL: u, Host: u.Host, Header: http.Header{}, Body: http.NoBody, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	for _, f := range req.Header {
		r.Header.Add(f.Name, f.Value)
	}
	if len(body) > 0 {
		r.Body, r.ContentLength = nopCloser{bytes.NewReader(body)}, int64(len(body))
	}
	return r, nil
}

type nopCloser struct{ *bytes.Reader }

// Close implements io.Closer.
func (nopCloser) Close() error { return nil }

func response(a answer) *event.Response {
	w := &recorder{header: http.Header{}}
	a.write(w)
	return w.response()
}

// recorder is an http.ResponseWriter in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	later  func(done func(answer)) // instead of them
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) { w.status = status }

// Write implements http.ResponseWriter.
func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }

func (w *recorder) response() *event.Response {
	resp := &event.Response{Status: w.status, StatusText: event.Reason(w.status), Body: event.Bytes(w.body.Bytes())}
	for _, name := range sortedKeys(w.header) {
		for _, value := range w.header[name] {
			resp.Header = append(resp.Header, event.Field{Name: name, Value: value})
		}
	}
	return resp
}
