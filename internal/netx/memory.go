package netx

import (
	"fmt"
	"net/url"
	"sort"
	"strings"
	"sync"

	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
)

// Memory is a network within the process: requests go to the function that is
// registered for the URL's host. Each exchange is one step of the scheduler, so
// that in a simulation the seed orders it among everything else. Safe for
// concurrent use.
type Memory struct {
	scheduler sched.Scheduler

	mu    sync.Mutex // guards everything below
	hosts map[string]Handler
}

// NewMemory returns a network without hosts.
func NewMemory(s sched.Scheduler) *Memory {
	return &Memory{scheduler: s, hosts: map[string]Handler{}}
}

// Handle registers h for a host ("api.example" or "localhost:8080", as it
// stands in the URL); "*" answers for all that have no function of their own. A
// nil h takes the host off the network.
func (m *Memory) Handle(host string, h Handler) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if host = strings.ToLower(host); h == nil {
		delete(m.hosts, host)
		return
	}
	m.hosts[host] = h
}

func (m *Memory) find(host string) (Handler, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.hosts[strings.ToLower(host)]; h != nil {
		return h, nil
	}
	if h := m.hosts["*"]; h != nil {
		return h, nil
	}
	var known []string
	for name := range m.hosts {
		known = append(known, name)
	}
	sort.Strings(known)
	return nil, &event.Error{Name: "Error", Message: fmt.Sprintf(
		"DNS lookup failed: %q is not on the simulated network (it has: %s)", host, strings.Join(known, ", "))}
}

// Do implements Dialer.
func (m *Memory) Do(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	return m.DoWith(req, func() (bool, error) { return true, nil }, done)
}

// DoWith is Do that calls sent, from the exchange's step, just before the
// request reaches its function; false is that it never does, and that done is
// not called. An error of the machine's, such as a *net.DNSError, is what a worker
// gets of it in place of an answer.
func (m *Memory) DoWith(req *event.Request, sent func() (bool, error), done func(*event.Response, error)) (cancel func(error)) {
	x := &exchange{done: done}
	m.scheduler.Go("fetch", func() {
		u, err := url.Parse(req.URL)
		if err != nil {
			x.finish(nil, &event.Error{Name: "TypeError", Message: "Invalid URL: " + req.URL})
			return
		}
		h, err := m.find(u.Host)
		if err != nil {
			x.finish(nil, err)
			return
		}
		if !x.begin() {
			return
		}
		reached, err := sent()
		switch {
		case err != nil:
			x.finish(nil, unreached(u.Hostname(), err))
		case reached:
			x.started(h(req, x.finish))
		}
	})
	return x.cancel
}

// exchange sees to it that done is called once, whatever comes first.
type exchange struct {
	done func(*event.Response, error)

	mu       sync.Mutex // guards everything below
	over     bool
	body     event.Body
	tunnel   event.Tunnel
	stop     func(error)
	canceled error
}

func (x *exchange) begin() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.over
}

func (x *exchange) started(stop func(error)) {
	x.mu.Lock()
	err := x.canceled
	x.stop = stop
	x.mu.Unlock()
	if err != nil && stop != nil {
		stop(err)
	}
}

func (x *exchange) finish(resp *event.Response, err error) {
	x.mu.Lock()
	if x.over {
		reason := x.canceled
		x.mu.Unlock()
		Discard(resp, reason)
		return
	}
	x.over = true
	if resp != nil {
		x.body, x.tunnel = resp.Body, resp.Tunnel
	}
	x.mu.Unlock()
	x.done(resp, err)
}

func (x *exchange) cancel(reason error) {
	if reason == nil {
		reason = ErrAborted
	}
	x.mu.Lock()
	if x.canceled != nil {
		x.mu.Unlock()
		return
	}
	x.canceled = reason
	over, body, tunnel, stop := x.over, x.body, x.tunnel, x.stop
	x.over = true
	x.mu.Unlock()
	if stop != nil {
		stop(reason)
	}
	if body != nil {
		body.Cancel(reason)
	}
	if tunnel != nil {
		tunnel.Close()
	}
	if !over {
		x.done(nil, reason)
	}
}

// Discard gives up a response that comes after its receiver has gone.
func Discard(resp *event.Response, reason error) {
	if resp == nil {
		return
	}
	if resp.Body != nil {
		resp.Body.Cancel(reason)
	}
	if resp.Tunnel != nil {
		resp.Tunnel.Close()
	}
	if resp.Socket != nil {
		resp.Socket.Drop(CloseLost, LostCloseReason, reason)
	}
}
