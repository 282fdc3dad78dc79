package fetch

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/event"
)

// commonHeaders number the headers of capnp's http-over-capnp.capnp from 1 on:
// part of the bytes of a stored Headers object.
var commonHeaders = strings.Fields(`accept-charset accept-encoding accept-language accept-ranges accept
	access-control-allow-origin age allow authorization cache-control content-disposition content-encoding
	content-language content-length content-location content-range content-type cookie date etag expect expires
	from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link location
	max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after server set-cookie
	strict-transport-security transfer-encoding user-agent vary via www-authenticate`)

// Guards of Headers, as workerd numbers them; a request's (1) and a response's
// (2) are immutable too.
const (
	guardImmutable = 0
	guardNone      = 3
)

// headersCodec writes Headers::serialize's bytes (workerd, api/headers.c++).
type headersCodec struct{ p *Fetch }

// Match implements clone.HostCodec.
func (c headersCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	_, ok := c.p.Engine.Attached(obj).(*headers)
	return ok
}

// Write implements clone.HostCodec: the guard, the number of lines, then those
// of common headers in the order of their numbers, then the others.
func (c headersCodec) Write(w *clone.Writer, obj *goja.Object) error {
	h := c.p.Engine.Attached(obj).(*headers)
	guard := uint32(guardNone)
	if h.immutable {
		guard = guardImmutable
	}
	w.WriteUint32(guard)
	w.WriteUint32(uint32(len(h.list)))
	var others event.Header
	byNumber := make([][]string, len(commonHeaders))
	for _, f := range h.list {
		if i := commonNumber(f.Name); i >= 0 {
			byNumber[i] = append(byNumber[i], f.Value)
		} else {
			others = append(others, f)
		}
	}
	for i, values := range byNumber {
		for _, value := range values {
			w.WriteUint32(uint32(i + 1))
			w.WriteLengthDelimited(value)
		}
	}
	for i, f := range others {
		if f.Name == "" {
			continue // written with an earlier line of its name
		}
		for j, g := range others[i:] {
			if strings.EqualFold(g.Name, f.Name) {
				w.WriteUint32(0)
				w.WriteLengthDelimited(f.Name)
				w.WriteLengthDelimited(g.Value)
				others[i+j].Name = ""
			}
		}
	}
	return nil
}

func commonNumber(name string) int {
	for i, common := range commonHeaders {
		if len(common) == len(name) && strings.EqualFold(common, name) {
			return i
		}
	}
	return -1
}

// Read implements clone.HostCodec.
func (c headersCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	guard, err := r.ReadUint32()
	if err != nil {
		return nil, err
	}
	n, err := r.ReadUint32()
	if err != nil {
		return nil, err
	}
	h := &headers{}
	for range n {
		id, err := r.ReadUint32()
		if err != nil {
			return nil, err
		}
		var name []byte
		switch {
		case id == 0:
			name, err = r.ReadLengthDelimited()
		case int(id) <= len(commonHeaders):
			name = []byte(commonHeaders[id-1])
		default:
			err = fmt.Errorf("unknown common header %d", id)
		}
		if err != nil {
			return nil, err
		}
		value, err := r.ReadLengthDelimited()
		if err != nil {
			return nil, err
		}
		h.list = append(h.list, event.Field{Name: string(name), Value: string(value)})
	}
	h.immutable = guard != guardNone
	return c.p.headersObject(h), nil
}
