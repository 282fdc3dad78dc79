package engine

import "minido.dev/minido/runtime/event"

// Subrequests bound what one event may ask of others: fetches, each hop of a
// redirect, and calls of stubs and service bindings. As in production a
// stateless event has a count of its own, and each event that is delivered to a
// Durable Object begins that object's count anew.

// DefaultSubrequests is production's limit on its paid plans
// (developers.cloudflare.com/workers/platform/limits).
const DefaultSubrequests = 10_000

// tooManySubrequests is production's text.
const tooManySubrequests = "Too many subrequests by single Worker invocation. To configure this limit, refer to https://developers.cloudflare.com/workers/wrangler/configuration/#limits"

// Subrequest counts a request that the current context is about to make. The
// error says that it must not: it made too many. Loop-confined.
func (e *Engine) Subrequest() error {
	c := e.Current()
	if c == nil || e.maxSubrequests == 0 {
		return nil
	}
	if c.subrequests >= e.maxSubrequests {
		return &event.Error{Name: "Error", Message: tooManySubrequests}
	}
	c.subrequests++
	return nil
}

// NewEvent begins the context's count of subrequests anew: an event from
// outside enters it.
func (c *Context) NewEvent() { c.subrequests = 0 }
