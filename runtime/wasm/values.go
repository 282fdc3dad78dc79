package wasm

import (
	"math"
	"math/big"

	"github.com/dop251/goja"
)

// toWasm is ToWebAssemblyValue (JS interface, section 5.6); to is the instance
// that gets it. It may call JavaScript.
func (s *Store) toWasm(v goja.Value, t valueType, to *instance) uint64 {
	switch t {
	case typeI32:
		return uint64(toInt32(s.number(v)))
	case typeI64:
		return s.toInt64(v)
	case typeF32:
		return uint64(math.Float32bits(float32(s.number(v))))
	case typeF64:
		return math.Float64bits(s.number(v))
	case typeExternref:
		return s.extern.handle(s, v)
	case typeFuncref:
		ref, ok := s.reference(v, to)
		if !ok {
			s.throw("TypeError", "type incompatibility when transforming from/to JS")
		}
		return ref
	}
	s.throw("TypeError", "type incompatibility when transforming from/to JS")
	return 0
}

// number is ToNumber.
func (s *Store) number(v goja.Value) float64 {
	if goja.IsNumber(v) {
		return v.ToFloat()
	}
	return v.ToNumber().ToFloat()
}

// toInt32 is ECMA-262's, but as the bits.
func toInt32(f float64) uint32 {
	if i := int64(f); float64(i) == f {
		return uint32(i)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	f = math.Mod(math.Trunc(f), 1<<32)
	if f < 0 {
		f += 1 << 32
	}
	return uint32(f)
}

func (s *Store) toInt64(v goja.Value) uint64 {
	n, ok := v.Export().(*big.Int)
	if !ok || !n.IsInt64() {
		made, err := s.helpers.int64(goja.Undefined(), v)
		if err != nil {
			s.engine.Rethrow(err)
		}
		n, _ = made.Export().(*big.Int)
	}
	return uint64(n.Int64())
}

// toJS is ToJSValue (section 5.6).
func (s *Store) toJS(v uint64, t valueType) goja.Value {
	switch t {
	case typeI32:
		return s.vm.ToValue(int64(int32(v)))
	case typeI64:
		return s.vm.ToValue(big.NewInt(int64(v)))
	case typeF32:
		return s.vm.ToValue(float64(math.Float32frombits(uint32(v))))
	case typeF64:
		return s.vm.ToValue(math.Float64frombits(v))
	case typeExternref:
		return s.extern.value(v)
	case typeFuncref:
		return s.functionOf(v)
	}
	s.throw("TypeError", "type incompatibility when transforming from/to JS")
	return nil
}

// reference is the reference of a Wasm function or null; ok is false for anything
// else. The instance that gets it keeps the function's alive.
func (s *Store) reference(v goja.Value, to *instance) (ref uint64, ok bool) {
	if goja.IsNull(v) {
		return 0, true
	}
	f, ok := s.engine.Attached(v).(*function)
	if !ok {
		return 0, false
	}
	join(to, f.inst)
	return uint64(f.reference()), true
}
