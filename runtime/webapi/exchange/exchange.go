// Package exchange is one HTTP exchange with any server: routing, redirects, and
// failures as JavaScript sees them.
package exchange

import (
	"errors"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/url"
)

// Exchange performs an HTTP exchange on behalf of the current context. done
// is called once, from any goroutine; cancel may be called at any time.
type Exchange func(req *event.Request, done func(*event.Response, error)) (cancel func(error))

// Route is the way of a request to who answers it.
type Route struct {
	// Through performs the exchange; nil has nowhere to go.
	Through Exchange
	// Network says that the exchange speaks HTTP, and no other scheme.
	Network bool
	// Emit releases each request, those after a redirect too, as an output of the
	// current context. In place of release it may call lose: its connection was lost.
	Emit func(release func(), lose func(error))
	// Failure is what a failed exchange rejects with. It runs on the loop.
	Failure func(error) goja.Value
	// Cause names the turn in which the promise settles.
	Cause string
}

// NetworkError is Error of the network, whose losses come from another process in the reference.
func NetworkError(e *engine.Engine, err error) goja.Value {
	var ev *event.Error
	if errors.As(err, &ev) && ev.Retryable && !errors.Is(err, event.ErrPeerLost) {
		remote := *ev
		remote.Remote = true
		err = &remote
	}
	return Error(e, err)
}

// Error is the JavaScript value of a failed exchange.
func Error(e *engine.Engine, err error) goja.Value {
	var ex *goja.Exception
	var ev *event.Error
	if errors.As(err, &ex) || errors.As(err, &ev) {
		return e.Errors.FromGo(err)
	}
	return e.Errors.New("Error", err.Error())
}

// Attempt is an exchange that follows redirects, on the level of events (Fetch,
// section 4.4). Its exported fields are set before Start. Safe for concurrent use.
type Attempt struct {
	Engine *engine.Engine
	Route  Route
	Frame  *engine.Frame // whose exchange it is
	Manual bool          // redirects are answers
	Replay bool          // the body can be sent again
	Buffer []byte        // to do so
	// KeepAuthorization sends the header of that name to other origins too.
	KeepAuthorization bool

	visited   []string   // the URLs before the present one
	mu        sync.Mutex // guards the fields below
	stop      func(error)
	cancelled error
}

// maxRedirects is the limit of the Fetch standard and of workerd.
const MaxRedirects = 20

// Start emits one request. It belongs to a turn of the frame.
func (f *Attempt) Start(req *event.Request, done func(*event.Response, error)) {
	f.Route.Emit(func() { f.send(req, done) }, func(err error) { done(nil, err) })
}

// send sends one request; it runs on the loop.
func (f *Attempt) send(req *event.Request, done func(*event.Response, error)) {
	f.mu.Lock()
	cancelled := f.cancelled
	f.mu.Unlock()
	if cancelled != nil {
		return
	}
	var stop func(error)
	f.Engine.In(f.Frame, func() {
		stop = f.Route.Through(req, func(resp *event.Response, err error) {
			if err != nil || f.Manual || !IsRedirect(resp.Status) || !resp.Header.Has("location") {
				if err == nil {
					f.describe(req, resp)
				}
				done(resp, err)
				return
			}
			f.follow(req, resp, done)
		})
	})
	f.mu.Lock()
	f.stop, cancelled = stop, f.cancelled
	f.mu.Unlock()
	if cancelled != nil && stop != nil {
		stop(cancelled)
	}
}

// describe sets what only the client knows of a response.
func (f *Attempt) describe(req *event.Request, resp *event.Response) {
	resp.URL, _, _ = strings.Cut(req.URL, "#") // Fetch, section 5.5: url has no fragment
	resp.Redirected = len(f.visited) > 0
}

// Cancel ends the attempt, also one that has not begun.
func (f *Attempt) Cancel(reason error) {
	f.mu.Lock()
	stop := f.stop
	if f.cancelled == nil {
		f.cancelled = reason
	}
	f.mu.Unlock()
	if stop != nil {
		stop(reason)
	}
}

// follow sends the next request, as a turn of the frame that fetched.
func (f *Attempt) follow(req *event.Request, resp *event.Response, done func(*event.Response, error)) {
	if resp.Body != nil {
		resp.Body.Cancel(errors.New("redirected"))
	}
	next, err := f.next(req, resp)
	if err != nil {
		done(nil, err)
		return
	}
	f.Engine.Post(f.Frame, "redirect", func() {
		f.visited = append(f.visited, req.URL)
		if err := f.Engine.Subrequest(); err != nil {
			done(nil, err)
			return
		}
		f.Start(next, done)
	})
}

func (f *Attempt) next(req *event.Request, resp *event.Response) (*event.Request, error) {
	fail := func(text string) (*event.Request, error) {
		return nil, &event.Error{Name: "TypeError", Message: text}
	}
	if len(f.visited) >= MaxRedirects {
		return fail("Too many redirects." + strings.Join(append(f.visited, req.URL), ", "))
	}
	target, err := url.Parse(resp.Header.Get("location"), req.URL)
	if err != nil || f.Route.Network && target.Scheme() != "http" && target.Scheme() != "https" {
		return fail("Invalid Location header; unable to follow redirect.")
	}
	next := &event.Request{Method: req.Method, URL: target.Href(false), Header: req.Header, CF: req.CF, Upgrade: req.Upgrade, Raw: req.Raw, NoBrotli: req.NoBrotli, Cause: req.Cause}
	if resp.Status != 303 && !f.Replay {
		return fail("A request with a one-time-use body (it was initialized from a stream, not a buffer) encountered a redirect requiring the body to be retransmitted. To avoid this error in the future, construct this request from a buffer-like body initializer.")
	}
	if (resp.Status == 301 || resp.Status == 302) && req.Method == "POST" || resp.Status == 303 && req.Method != "HEAD" {
		next.Method = "GET"
	} else if f.Buffer != nil {
		next.Body = event.Bytes(append([]byte(nil), f.Buffer...))
	}
	if from, err := url.Parse(req.URL, ""); !f.KeepAuthorization && (err != nil || from.Scheme() != target.Scheme() || from.Host() != target.Host()) {
		next.Header = Without(next.Header, "authorization")
	}
	return next, nil
}

// Without is a header without some lines.
func Without(h event.Header, names ...string) event.Header {
	var out event.Header
	for _, f := range h {
		keep := true
		for _, name := range names {
			keep = keep && !strings.EqualFold(f.Name, name)
		}
		if keep {
			out = append(out, f)
		}
	}
	return out
}

// IsRedirect reports whether a status asks to fetch another URL.
func IsRedirect(status int) bool {
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308
}
