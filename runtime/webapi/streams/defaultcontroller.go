package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

const (
	textUnableToEnqueue = "Unable to enqueue"
	textClosedReadable  = "This ReadableStream is closed."
)

// pullSteps is [[PullSteps]] of a default controller (Streams, section 4.6.4). As in
// workerd a read that finds a chunk in the queue asks the source for nothing.
func (c *controller) pullSteps(request readRequest) {
	if c.queue.empty() {
		c.stream.reader.requests.push(request)
		c.callPull()
		return
	}
	item := c.queue.take()
	if c.size -= item.size; c.queue.empty() {
		c.size = 0
	}
	if c.closing && c.queue.empty() {
		c.forget()
		c.stream.close()
	}
	request.chunk(item.chunk)
}

// enqueue is ReadableStreamDefaultControllerEnqueue (section 4.9.5); thrown, if
// not nil, is what it throws.
func (c *controller) enqueue(chunk goja.Value) (thrown goja.Value) {
	if !c.open() {
		return c.p.typeError(textUnableToEnqueue)
	}
	if s := c.stream; s.waiting() {
		s.reader.requests.take().chunk(chunk)
	} else {
		n, thrown := c.p.sizeOf(c.sizes, chunk)
		if thrown != nil {
			c.fail(thrown)
			return nil // as workerd, whose enqueue() does not throw it
		}
		c.queue.push(sized{chunk: chunk, size: n})
		c.size += n
	}
	c.callPull()
	return nil
}

// close is ReadableStreamDefaultControllerClose for a controller that is open.
func (c *controller) close() {
	c.closing = true
	if c.queue.empty() {
		c.forget()
		c.stream.close()
	}
}

// closeOpen is close for one that may not be.
func (c *controller) closeOpen() {
	if c.open() {
		c.close()
	}
}

func defineController(p *Streams) *engine.Class[*controller] {
	return engine.DefineClass(p.Engine, engine.ClassDef[*controller]{
		Name: "ReadableStreamDefaultController",
		Accessors: []engine.Accessor[*controller]{
			{Name: "desiredSize", Get: func(c *controller, _ *goja.Object) goja.Value { return c.desiredSize() }},
		},
		Methods: []engine.Method[*controller]{
			{Name: "close", Fn: func(c *controller, _ goja.FunctionCall) goja.Value {
				if !c.open() {
					p.Engine.Throw("TypeError", "%s", textClosedReadable)
				}
				c.close()
				return goja.Undefined()
			}},
			{Name: "enqueue", Fn: func(c *controller, call goja.FunctionCall) goja.Value {
				if thrown := c.enqueue(call.Argument(0)); thrown != nil {
					panic(thrown)
				}
				return goja.Undefined()
			}},
			{Name: "error", Fn: func(c *controller, call goja.FunctionCall) goja.Value {
				c.fail(call.Argument(0))
				return goja.Undefined()
			}},
		},
	})
}
