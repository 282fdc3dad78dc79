package net

import (
	"encoding/hex"
	"net/netip"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// addressNatives are the natives of js/net.js and js/dns.js: IP addresses as
// text.
func addressNatives(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	parse := func(v goja.Value) netip.Addr {
		a, err := netip.ParseAddr(v.String())
		if err != nil {
			return netip.Addr{}
		}
		return a
	}
	return []engine.Func{
		// family is 4, 6, or 0 for what is no address.
		{Name: "family", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			switch a := parse(c.Argument(0)); {
			case a.Is4():
				return m.VM.ToValue(4)
			case a.Is6():
				return m.VM.ToValue(6)
			}
			return m.VM.ToValue(0)
		}},
		{Name: "canonical", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(parse(c.Argument(0)).WithZone("").String())
		}},
		// compare orders two addresses; one of IPv4 equals itself mapped into IPv6.
		{Name: "compare", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(parse(c.Argument(0)).Unmap().Compare(parse(c.Argument(1)).Unmap()))
		}},
		// within is (address, network, bits).
		{Name: "within", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
			net, err := parse(c.Argument(1)).Prefix(int(c.Argument(2).ToInteger()))
			return m.VM.ToValue(err == nil && net.Contains(parse(c.Argument(0)).WithZone("").Unmap()))
		}},
		// expand is the 32 hexadecimal digits of an address.
		{Name: "expand", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			b := parse(c.Argument(0)).As16()
			return m.VM.ToValue(hex.EncodeToString(b[:]))
		}},
	}
}

// socketNatives are the natives of js/net_socket.js.
func socketNatives(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{
		// connect is that of cloudflare:sockets.
		{Name: "connect", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return m.Platform.TCP.Connect(c.Argument(0), c.Argument(1))
		}},
	}
}
