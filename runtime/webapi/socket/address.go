package socket

import (
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webidl"
)

// address is where a connection goes.
type address struct {
	text string // host:port
	host string
	port int
}

func (p *Sockets) address(v goja.Value) (a address) {
	refuse := func(text string) { p.Engine.Throw("TypeError", "%s", text) }
	switch record := v.(type) {
	case *goja.Object:
		a.host, a.port = p.DOMString(record.Get("hostname")), p.port(record.Get("port"))
		a.text = a.host + ":" + strconv.Itoa(a.port)
	default:
		if webidl.IsUndefined(v) {
			refuse("Cannot initialize N7workerd3api13SocketAddressE with required members from an undefined or null value.")
		}
		if goja.IsNull(v) {
			refuse("Failed to execute 'connect' on 'SocketsModule': parameter 1 is not of type 'SocketAddress or string'.")
		}
		a.text = p.DOMString(v)
		if a.text == "" {
			refuse("Specified address is missing hostname.")
		}
		u, err := url.Parse("https://"+a.text, "")
		switch {
		case err != nil:
			refuse("Specified address could not be parsed.")
		case u.Hostname() == "":
			refuse("Specified address is missing hostname.")
		case u.Port() != "":
			a.port, _ = strconv.Atoi(u.Port()) // the parser has seen to it that it is a number
		case strings.HasSuffix(a.text, ":443"):
			a.port = 443
		default:
			refuse("Specified address is missing port.")
		}
		a.host = u.Hostname()
	}
	if len(a.text) > 255 || a.host == "" || strings.ContainsFunc(a.text, notInAddress) {
		refuse("Specified address is empty string, contains unsupported characters or is too long.")
	}
	a.host = strings.TrimSuffix(strings.TrimPrefix(a.host, "["), "]")
	return a
}

func notInAddress(c rune) bool {
	return c >= 0x80 || !isAlphanumeric(byte(c)) && !strings.ContainsRune("-._[]:", c)
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func (p *Sockets) port(v goja.Value) int {
	if v == nil {
		v = goja.Undefined()
	}
	switch f := v.ToNumber().ToFloat(); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		p.Engine.Throw("TypeError", "The value cannot be converted because it is not an integer.")
	case f < 0:
		p.Engine.Throw("TypeError", "The value cannot be converted because it is negative and this API expects a positive number.")
	case f > 65535:
		p.Engine.Throw("TypeError", "Value out of range. Must be less than or equal to 65535.")
	default:
		return int(f)
	}
	return 0
}

type options struct {
	secure        string // "off", "on" or "starttls"
	allowHalfOpen bool
	highWaterMark float64
}

func (p *Sockets) options(v goja.Value) options {
	o := options{secure: "off", highWaterMark: 1}
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return o
	}
	init, ok := v.(*goja.Object)
	if !ok {
		p.Engine.Throw("TypeError", "Failed to execute 'connect' on 'SocketsModule': parameter 2 is not of type 'SocketOptions'.")
	}
	if v := webidl.Present(init, "secureTransport"); v != nil {
		if o.secure = p.DOMString(v); o.secure != "off" && o.secure != "on" && o.secure != "starttls" {
			p.Engine.Throw("TypeError", "Unsupported value in secureTransport socket option: %s", o.secure)
		}
	}
	if v := webidl.Present(init, "allowHalfOpen"); v != nil {
		o.allowHalfOpen = v.ToBoolean()
	}
	if v := webidl.Present(init, "highWaterMark"); v != nil {
		if o.highWaterMark = v.ToNumber().ToFloat(); math.IsNaN(o.highWaterMark) || o.highWaterMark < 0 {
			p.Engine.Throw("TypeError", "The value cannot be converted because it is negative and this API expects a positive number.")
		}
	}
	return o
}
