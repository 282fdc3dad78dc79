package net

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/nodeapi/node"
)

// Cloudflare is the exports object of cloudflare:node.
func Cloudflare(m *node.Modules) (exports goja.Value, err error) {
	if ex := m.VM.Try(func() { exports = m.Load("internal/http_server").(*goja.Object).Get("cloudflare") }); ex != nil {
		return nil, ex
	}
	return exports, nil
}
