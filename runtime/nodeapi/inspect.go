package nodeapi

import "github.com/dop251/goja"

func (m *Modules) inspect(v, opts goja.Value) goja.Value { return m.vm.ToValue(m.engine.Text(v)) }

func (m *Modules) format(c goja.FunctionCall) goja.Value { return m.vm.ToValue("") }
