// Package file is the bindings that are files of the project: wasm_modules,
// text_blobs and data_blobs, which Service Workers have as globals. minido puts them
// on env; wrangler refuses them for ES modules, which import such files.
package file

import (
	"fmt"
	"os"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
)

// files makes the value of a file's content.
type files struct {
	driver.Stateless
	value func(a *cfapi.API, content []byte) goja.Value
}

// NewText makes the driver of text blobs: strings.
func NewText(*driver.Session) driver.Driver {
	return files{value: func(a *cfapi.API, content []byte) goja.Value { return a.Engine.String(string(content)) }}
}

// NewData makes the driver of data blobs: ArrayBuffers.
func NewData(*driver.Session) driver.Driver { return files{value: buffer} }

// NewWasm makes the driver of WebAssembly modules: compiled, not instantiated.
func NewWasm(*driver.Session) driver.Driver {
	return files{value: func(a *cfapi.API, content []byte) goja.Value {
		module, err := cfapi.Module(a, content)
		if err != nil {
			a.Engine.Throw("Error", "%s", err)
		}
		return module
	}}
}

func buffer(a *cfapi.API, content []byte) goja.Value {
	vm := a.Engine.VM()
	return vm.ToValue(vm.NewArrayBuffer(content))
}

// Make implements driver.Driver. A file that cannot be read or is no module keeps
// the worker from starting.
func (f files) Make(a *cfapi.API, _ driver.Worker, b config.Binding) goja.Value {
	content, err := os.ReadFile(b.Param("path"))
	if err != nil {
		a.Engine.Throw("Error", "%s", fmt.Errorf("%s (%s): %w", b.Section, b.Where, err))
	}
	return f.value(a, content)
}
