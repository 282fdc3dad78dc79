package debugport

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/devregistry/capnp"
	"minido.dev/minido/runtime/event"
)

// thrownDetail is the detail of an exception that has the thrown value as a structured
// clone (workerd: jsg/util.h, TUNNELED_EXCEPTION_DETAIL_ID).
const thrownDetail = 0xe8027292171b1646

func noMethod(c *capnp.Call) error {
	return &capnp.Exception{Type: capnp.NoMethod, Reason: fmt.Sprintf("minido does not have the method %d of the interface %#x", c.Number, c.Interface)}
}

// fromException makes the error of a failed call. The description of what JavaScript
// threw is "jsg.Class: message", after flags that end in "." or ";" (workerd:
// jsg/exception.c++).
func fromException(err error) error {
	var x *capnp.Exception
	if !errors.As(err, &x) {
		return err
	}
	text := x.Reason
	e := &event.Error{Message: text, Overloaded: x.Type == capnp.Overloaded, Retryable: x.Type == capnp.Disconnected}
	for {
		if rest, ok := strings.CutPrefix(text, "remote."); ok {
			text, e.Remote = rest, true
			continue
		}
		flag, rest, ok := strings.Cut(text, "; ")
		if !ok || strings.ContainsAny(flag, " :") {
			break
		}
		e.ObjectReset = e.ObjectReset || strings.HasPrefix(flag, "broken.")
		text = rest
	}
	if rest, ok := strings.CutPrefix(text, "jsg."); ok {
		name, message, _ := strings.Cut(rest, ": ")
		if dom, ok := strings.CutPrefix(name, "DOMException("); ok {
			name = strings.TrimSuffix(dom, ")")
		}
		e.Name, e.Message = name, message
	} else {
		e.Message = text
	}
	for _, d := range x.Details {
		if d.ID == thrownDetail && isObject(d.Data) {
			e.Thrown = &event.Payload{Bytes: d.Data}
		}
	}
	return e
}

// domException begins the structured clone of a DOMException.
var domException = []byte{0xff, 15, '\\', byte(clone.HostDOMException)}

// isObject reports whether a structured clone is that of an object. What was thrown and is
// none crosses by its text, as the reference has it.
func isObject(data []byte) bool {
	if len(data) < 3 || data[0] != 0xff {
		return false
	}
	rest := bytes.TrimLeft(data[2:], "\x00") // padding
	return len(rest) > 0 && !bytes.Contains([]byte(`_0TFIUNZS"c`), rest[:1])
}

// toException is the reverse.
func toException(err error) error {
	var e *event.Error
	if !errors.As(err, &e) {
		return &capnp.Exception{Type: capnp.Failed, Reason: "remote.jsg.Error: " + err.Error()}
	}
	name, message := e.Name, e.Message
	if e.Told != nil {
		name, message = e.Told.Name, e.Told.Message
	}
	switch name {
	case "":
		name = "Error"
	case "Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError", "AggregateError":
	default:
		if e.Thrown != nil && bytes.HasPrefix(e.Thrown.Bytes, domException) {
			name = "DOMException(" + name + ")"
		} else { // a class of its own
			name, message = "Error", name+": "+message
		}
	}
	x := &capnp.Exception{Type: capnp.Failed, Reason: "jsg." + name + ": " + message}
	switch {
	case e.Overloaded:
		x.Type = capnp.Overloaded
	case e.Retryable:
		x.Type = capnp.Disconnected
	}
	if e.ObjectReset {
		x.Reason = "broken.exceptionThrown; " + x.Reason
	}
	x.Reason = "remote." + x.Reason
	if e.Thrown != nil && len(e.Thrown.Caps) == 0 {
		x.Details = []capnp.Detail{{ID: thrownDetail, Data: e.Thrown.Bytes}}
	}
	return x
}
