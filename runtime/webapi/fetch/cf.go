package fetch

import (
	"github.com/dop251/goja"
)

// cfProperty is the `cf` of a Request or Response: JSON until JavaScript looks
// at it, then an object of its own. Loop-confined.
type cfProperty struct {
	raw    []byte
	value  goja.Value // nil until made
	frozen bool       // an incoming request's own; copies can be changed
}

// get is the object, undefined if there is none.
func (c *cfProperty) get(p *Fetch) goja.Value {
	if c.value == nil {
		c.value = goja.Undefined()
		if len(c.raw) > 0 {
			c.value = p.parseJSON(p.VM.ToValue(string(c.raw)))
			if c.frozen {
				p.freeze(c.value)
			}
		}
	}
	return c.value
}

// freeze freezes what JSON has made, all the way down.
func (p *Fetch) freeze(v goja.Value) {
	object, ok := v.(*goja.Object)
	if !ok {
		return
	}
	p.Engine.Call(p.Engine.Primordial("ObjectFreeze"), goja.Undefined(), object)
	for _, key := range object.Keys() {
		p.freeze(object.Get(key))
	}
}

// json is the property as an event carries it, nil if there is none.
func (c *cfProperty) json(p *Fetch) []byte {
	if c.value == nil {
		return c.raw
	}
	if goja.IsUndefined(c.value) || goja.IsNull(c.value) {
		return nil
	}
	text := p.Engine.Call(p.Engine.Primordial("JSONStringify"), goja.Undefined(), c.value)
	if goja.IsUndefined(text) {
		return nil
	}
	return []byte(text.String())
}

func (c *cfProperty) clone(p *Fetch) cfProperty { return cfProperty{raw: c.json(p)} }

// newCF copies an object that user code gave.
func (p *Fetch) newCF(v goja.Value, dict string) cfProperty {
	if goja.IsNull(v) {
		return cfProperty{}
	}
	if _, ok := v.(*goja.Object); !ok {
		p.Engine.Throw("TypeError", "Incorrect type for the 'cf' field on '%s': the provided value is not of type 'Object'.", dict)
	}
	given := cfProperty{value: v}
	return given.clone(p)
}
