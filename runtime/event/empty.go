package event

import "strings"

// droppedEmpty are the headers that workerd has a number for (the table of its HTTP
// library and its own). One of them without a value counts as absent when a message is
// written; observed of responses of workerd 1.20261117.1.
var droppedEmpty = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(`
	accept accept-charset accept-encoding accept-language accept-ranges access-control-allow-origin age allow
	authorization cache-control cf-cache-namespace cf-cache-status cf-kv-metadata cf-r2-request cf-ray content-
	disposition content-encoding content-language content-location content-range content-type cookie etag expect
	expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link
	location max-forwards origin pragma proxy-authenticate proxy-authorization range referer refresh retry-after
	sec-websocket-accept sec-websocket-extensions sec-websocket-key sec-websocket-protocol sec-websocket-version
	server set-cookie strict-transport-security user-agent vary via www-authenticate
`) {
		set[name] = true
	}
	return set
}()

// Leaves reports whether a header is written to a connection: workerd leaves out those
// that it knows and that are empty. Safe for concurrent use.
func (f Field) Leaves() bool {
	return f.Value != "" || !droppedEmpty[strings.ToLower(f.Name)]
}
