package webapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

type streamState struct{}

func (p *Platform) installStreams() {}

func (p *Platform) noStreams() {
	p.Engine.Throw("Error", "ReadableStream is not built yet; read the body with text(), json() or arrayBuffer().")
}
func (p *Platform) isStream(v goja.Value) bool { return false }
func (p *Platform) streamFromBody(b event.Body, owner *engine.Context) *goja.Object {
	p.noStreams()
	return nil
}
func (p *Platform) streamFromIterable(v goja.Value) *goja.Object { p.noStreams(); return nil }
func (p *Platform) spendStream(s *goja.Object)                   {}
func (p *Platform) streamDisturbed(s *goja.Object) bool          { return false }
func (p *Platform) streamLocked(s *goja.Object) bool             { return false }
func (p *Platform) takeNative(s *goja.Object) (event.Body, *engine.Context, bool) {
	return nil, nil, false
}
func (p *Platform) readStream(s *goja.Object, convert func([]byte) goja.Value) goja.Value {
	p.noStreams()
	return nil
}
func (p *Platform) teeStream(s *goja.Object) (a, b *goja.Object)           { p.noStreams(); return nil, nil }
func (p *Platform) detachStream(s *goja.Object) *goja.Object               { p.noStreams(); return nil }
func (p *Platform) pumpStream(s *goja.Object, done func(error)) event.Body { p.noStreams(); return nil }
