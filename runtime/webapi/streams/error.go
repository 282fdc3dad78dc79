package streams

import (
	"errors"
	"io"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// thrownValue carries a JavaScript value through Go code that knows errors.
// Only its own isolate may look at the value; others see the description.
type thrownValue struct {
	description *event.Error
	engine      *engine.Engine
	value       goja.Value
}

// Thrown is a JavaScript value as an error of Go, for a body to break with. Its
// own isolate gets the value back, others see a description.
func (p *Streams) Thrown(v goja.Value) error {
	return &thrownValue{p.Engine.Errors.ToEvent(v), p.Engine, v}
}

// Unwrap gives the description.
func (t *thrownValue) Unwrap() error { return t.description }

// Error implements error.
func (t *thrownValue) Error() string { return t.description.Error() }

// bodyError is the JavaScript value of an error that broke a body.
func (p *Streams) bodyError(err error) goja.Value {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return p.Engine.Errors.New("Error", textLost)
	}
	var thrown *thrownValue
	if errors.As(err, &thrown) && thrown.engine == p.Engine {
		return thrown.value
	}
	return p.Engine.Errors.FromGo(err)
}
