package event

import "strings"

// spellings are the headers that workerd has a number for (the table of its HTTP
// library and its own), by their lower-case names, as it writes them.
var spellings = func() map[string]string {
	all := map[string]string{}
	for name := range strings.FieldsSeq(`
	Accept Accept-Charset Accept-Encoding Accept-Language Accept-Ranges Access-Control-Allow-Origin Age Allow
	Authorization Cache-Control CF-Cache-Namespace CF-Cache-Status CF-KV-Metadata CF-R2-Request CF-Ray Content-Disposition
	Content-Encoding Content-Language Content-Location Content-Range Content-Type Cookie Date ETag Expect
	Expires From Host If-Match If-Modified-Since If-None-Match If-Range If-Unmodified-Since Last-Modified Link
	Location Max-Forwards Origin Pragma Proxy-Authenticate Proxy-Authorization Range Referer Refresh Retry-After
	Sec-WebSocket-Accept Sec-WebSocket-Extensions Sec-WebSocket-Key Sec-WebSocket-Protocol Sec-WebSocket-Version
	Server Set-Cookie Strict-Transport-Security User-Agent Vary Via WWW-Authenticate
`) {
		all[strings.ToLower(name)] = name
	}
	return all
}()

// spelling is workerd's of a name, "" if it does not know it.
func spelling(name string) string {
	if s := spellings[name]; s != "" { // most come in lower case
		return s
	}
	return spellings[strings.ToLower(name)]
}

// Leaves reports whether a header is written to a connection: workerd leaves out those
// that it knows and that are empty. Observed of workerd 1.20261117.1. Safe for concurrent use.
func (f Field) Leaves() bool { return f.Value != "" || spelling(f.Name) == "" }

// Line is how workerd writes a header: with its own spelling if it knows the name,
// else as it was written. joined: several values of this name share one line.
// Observed of workerd 1.20261117.1. Safe for concurrent use.
func (f Field) Line() (name string, joined bool) {
	if s := spelling(f.Name); s != "" {
		return s, s != "Set-Cookie"
	}
	return f.Name, false
}
