package devregistry

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/devregistry/capnp"
	"minido.dev/minido/runtime/devregistry/debugport"
	"minido.dev/minido/runtime/event"
)

// servicePrefix begins the name of the service of a worker, as in wrangler's own
// (miniflare: plugins/core, getUserServiceName).
const servicePrefix = "core:user:"

// dialTime bounds how long another session on this machine may take to accept.
const dialTime = 5 * time.Second

// maxPeers bounds the connections to the debug port.
const maxPeers = 1000

// accept answers the connections to the debug port until it is closed.
func (r *Registry) accept() {
	for {
		conn, err := r.port.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			r.opts.Report(fmt.Errorf("dev registry: debug port: %w", err))
			return
		}
		r.mu.Lock()
		if r.closed || len(r.peers) >= maxPeers {
			r.mu.Unlock()
			_ = conn.Close() // nothing was written
			continue
		}
		var peer *capnp.Conn
		peer = debugport.Serve(conn, r.opts.Scheduler, offered{r.opts.Local}, func(error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.peers, peer)
		})
		r.peers[peer] = true
		r.mu.Unlock()
	}
}

// offered is the workers of this session as the services of the debug port.
type offered struct{ local Local }

var _ debugport.Local = offered{}

func (o offered) worker(service string) (string, error) {
	name, ok := strings.CutPrefix(service, servicePrefix)
	if !ok {
		return "", fmt.Errorf("minido offers other dev sessions the entrypoints and Durable Objects of workers, and not %q", service)
	}
	return name, nil
}

// Entrypoint implements debugport.Local.
func (o offered) Entrypoint(service, entrypoint string, props *event.Payload) (cfapi.Target, error) {
	name, err := o.worker(service)
	if err != nil {
		return nil, err
	}
	if entrypoint == "" {
		entrypoint = "default"
	}
	return o.local.Entrypoint(name, entrypoint, props), nil
}

// Object implements debugport.Local.
func (o offered) Object(service, class, id, name string) (cfapi.Target, error) {
	worker, err := o.worker(service)
	if err != nil {
		return nil, err
	}
	return o.local.Object(worker, class, id, name), nil
}

// wranglers is an entrypoint of a worker that runs in wrangler dev.
func (w Worker) wranglers(name string, props *event.Payload) cfapi.Target {
	service, entrypoint := w.entry.UserService, name
	if name == "default" {
		service, entrypoint = w.entry.DefaultService, ""
	}
	var value []byte
	if props != nil {
		value = props.Bytes
	}
	return linked{w.r, w.entry.DebugPort, func(c *debugport.Client) cfapi.Target { return c.Entrypoint(service, entrypoint, value) }}
}

// link is the connection to a debug port, or what waits for it. Its fields are
// guarded by the registry's mu.
type link struct {
	client  *debugport.Client // nil: not yet
	waiting []func(*debugport.Client, error)
}

func (l *link) close() {
	if l.client != nil {
		l.client.Close()
	}
}

// linkTo calls then with a connection to a debug port, now or when there is one. What
// waits is called in order.
func (r *Registry) linkTo(address string, then func(*debugport.Client, error)) {
	r.mu.Lock()
	l := r.links[address]
	switch {
	case r.closed:
		r.mu.Unlock()
		then(nil, errors.New("the dev session has ended"))
		return
	case l != nil && l.client != nil && l.waiting == nil:
		r.mu.Unlock()
		then(l.client, nil)
		return
	case l != nil:
		l.waiting = append(l.waiting, then)
		r.mu.Unlock()
		return
	}
	l = &link{waiting: []func(*debugport.Client, error){then}}
	r.links[address] = l
	r.mu.Unlock()
	r.opts.Scheduler.Go("debug port", func() { r.dial(address, l) })
}

// forget drops a link that has ended.
func (r *Registry) forget(address string, l *link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.links[address] == l {
		delete(r.links, address)
	}
}

func (r *Registry) dial(address string, l *link) {
	conn, err := dialLoopback(address)
	var client *debugport.Client
	if err == nil {
		client = debugport.NewClient(conn, r.opts.Scheduler, func(error) { r.forget(address, l) })
	} else {
		r.forget(address, l)
	}
	r.mu.Lock()
	l.client = client
	closed := r.closed
	for len(l.waiting) > 0 {
		then := l.waiting[0]
		l.waiting = l.waiting[1:]
		r.mu.Unlock()
		then(client, err)
		r.mu.Lock()
	}
	l.waiting = nil
	r.mu.Unlock()
	if closed && client != nil {
		client.Close()
	}
}

// dialLoopback connects to a debug port, which is on this machine.
func dialLoopback(address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dev registry: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("dev registry: the debug port %s of another dev session is not on this machine", address)
	}
	conn, err := net.DialTimeout("tcp", address, dialTime)
	if err != nil {
		return nil, netx.ErrLost // as for wrangler dev, whatever the reason
	}
	return conn, nil
}

// linked is something behind a debug port.
type linked struct {
	r       *Registry
	address string
	of      func(*debugport.Client) cfapi.Target
}

var _ cfapi.Target = linked{}

// Dup implements event.Capability.
func (t linked) Dup() event.Capability { return t }

// Release implements event.Capability.
func (t linked) Release() {}

// Call implements event.Capability.
func (t linked) Call(c *event.Call, done func(*event.Payload, error)) {
	t.r.linkTo(t.address, func(client *debugport.Client, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		t.of(client).Call(c, done)
	})
}

// Fetch implements cfapi.Target.
func (t linked) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	var c event.Canceler
	t.r.linkTo(t.address, func(client *debugport.Client, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		c.Set(t.of(client).Fetch(req, done))
	})
	return c.Cancel
}
