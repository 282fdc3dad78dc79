package debugport

import (
	"fmt"
	"slices"
	"strings"

	"minido.dev/minido/runtime/devregistry/capnp"
	"minido.dev/minido/runtime/event"
)

// methods are those of kj's HTTP, by their number (http-over-capnp.capnp, HttpMethod).
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "PURGE", "OPTIONS", "TRACE", "COPY", "LOCK", "MKCOL", "MOVE",
	"PROPFIND", "PROPPATCH", "SEARCH", "UNLOCK", "ACL", "REPORT", "MKACTIVITY", "CHECKOUT", "MERGE", "MSEARCH", "NOTIFY", "SUBSCRIBE", "UNSUBSCRIBE", "QUERY"}

// commonNames are the headers that have a number (CommonHeaderName).
var commonNames = []string{"", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Accept-Ranges", "Accept", "Access-Control-Allow-Origin", "Age",
	"Allow", "Authorization", "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Location",
	"Content-Range", "Content-Type", "Cookie", "Date", "ETag", "Expect", "Expires", "From", "Host", "If-Match", "If-Modified-Since", "If-None-Match",
	"If-Range", "If-Unmodified-Since", "Last-Modified", "Link", "Location", "Max-Forwards", "Proxy-Authenticate", "Proxy-Authorization", "Range",
	"Referer", "Refresh", "Retry-After", "Server", "Set-Cookie", "Strict-Transport-Security", "Transfer-Encoding", "User-Agent", "Vary", "Via",
	"WWW-Authenticate"}

// commonValues are the values that have a number (CommonHeaderValue).
var commonValues = []string{"", "gzip, deflate"}

func readHeader(list capnp.List) (event.Header, error) {
	h := make(event.Header, 0, list.Len())
	for i := range list.Len() {
		s := list.Struct(i)
		if s.Uint16(8) == 1 {
			nv := s.Struct(0)
			h = append(h, event.Field{Name: nv.Text(0), Value: nv.Text(1)})
			continue
		}
		name, value := int(s.Uint16(0)), s.Text(0)
		if s.Uint16(4) == 0 {
			v := int(s.Uint16(2))
			if v == 0 || v >= len(commonValues) {
				return nil, fmt.Errorf("a header has the unknown common value %d", v)
			}
			value = commonValues[v]
		}
		if name == 0 || name >= len(commonNames) {
			return nil, fmt.Errorf("a header has the unknown common name %d", name)
		}
		h = append(h, event.Field{Name: commonNames[name], Value: value})
	}
	return h, nil
}

func putHeader(o capnp.Object, i int, h event.Header) {
	list := o.Structs(i, len(h), 2, 1)
	for i, f := range h {
		e := list.At(i)
		e.PutUint16(8, 1)
		nv := e.Struct(0, 0, 2)
		nv.PutText(0, f.Name)
		nv.PutText(1, f.Value)
	}
}

// framed are the headers that the message's own fields say.
func framed(h event.Header) event.Header {
	return slices.DeleteFunc(slices.Clone(h), func(f event.Field) bool { return strings.EqualFold(f.Name, "Transfer-Encoding") })
}

// putSize writes the size of a body, nil for none.
func putSize(o capnp.Object, b event.Body) (streams bool) {
	length := int64(0)
	if b != nil {
		length = b.Length()
	}
	if length >= 0 {
		o.PutUint16(2, 1)
		o.PutUint64(8, uint64(length))
	}
	return length != 0
}

// size reads what putSize writes; -1 is unknown.
func size(s capnp.Struct) int64 {
	if s.Uint16(2) == 0 {
		return -1
	}
	return int64(s.Uint64(8) &^ (1 << 63))
}

// nullBody reports whether a response with this status has no body at all.
func nullBody(status int) bool {
	return status == 101 || status == 204 || status == 205 || status == 304
}
