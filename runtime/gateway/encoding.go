package gateway

import (
	"mime"
	"sort"
	"strconv"
	"strings"

	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/event"
)

// compressible are the types that Cloudflare's edge compresses by itself
// (Cloudflare's documentation, "Content compression"), and miniflare after it.
var compressible = map[string]bool{
	"text/html": true, "text/richtext": true, "text/plain": true, "text/css": true, "text/x-script": true,
	"text/x-component": true, "text/x-java-source": true, "text/x-markdown": true, "text/javascript": true,
	"text/js": true, "text/xml": true, "image/x-icon": true, "image/vnd.microsoft.icon": true, "image/svg+xml": true,
	"application/javascript": true, "application/x-javascript": true, "application/json": true, "application/xml": true,
	"application/rss+xml": true, "application/xhtml+xml": true, "application/wasm": true, "application/manifest+json": true,
	"application/ld+json": true, "application/graphql+json": true, "application/geo+json": true,
	"application/vnd.api+json": true, "application/x-protobuf": true, "application/vnd.ms-fontobject": true,
	"application/ttf": true, "application/x-ttf": true, "application/otf": true, "application/x-otf": true,
	"application/truetype": true, "application/opentype": true, "application/x-opentype": true, "application/font": true,
	"application/font-woff": true, "application/font-sfnt": true, "application/eot": true,
	"application/javascript-binast": true, "application/x-perl": true, "application/x-httpd-cgi": true,
	"font/ttf": true, "font/otf": true, "font/x-woff": true, "multipart/bag": true, "multipart/mixed": true,
}

// chooseEncoding decides how a body travels, and writes Content-Encoding
// accordingly. A worker's body is plain unless encodeBody is "manual": its
// Content-Encoding says how to encode it. Beyond that the client's
// Accept-Encoding decides, as at the edge. nil means as it is.
func (x *exchange) chooseEncoding(resp *event.Response) *netx.Encoder {
	if resp.EncodeBody == "manual" {
		return nil
	}
	h := x.w.Header()
	given := strings.ToLower(strings.Join(h["Content-Encoding"], ","))
	if given != "" && given != "gzip" && given != "br" {
		return nil
	}
	if wanted, ok := preferred(x.accepts); ok && edgeCompresses(h["Content-Type"]) {
		if given = wanted; given == "" {
			delete(h, "Content-Encoding")
		}
	}
	if given == "" {
		return nil
	}
	h["Content-Encoding"] = []string{given}
	return netx.NewEncoder(given)
}

func edgeCompresses(contentType []string) bool {
	if len(contentType) == 0 || contentType[0] == "" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType[0])
	return err == nil && compressible[kind]
}

// preferred is the encoding among gzip and br that an Accept-Encoding ranks
// first, "" for none of them; ok is false if the header says nothing.
func preferred(accepts string) (coding string, ok bool) {
	if accepts == "" {
		return "", false
	}
	type offer struct {
		coding string
		weight float64
	}
	var offers []offer
	for part := range strings.SplitSeq(accepts, ",") {
		name, params, _ := strings.Cut(part, ";")
		o := offer{strings.ToLower(strings.TrimSpace(name)), 1}
		if q, found := strings.CutPrefix(strings.TrimSpace(params), "q="); found {
			weight, err := strconv.ParseFloat(q, 64)
			if err != nil {
				continue
			}
			o.weight = weight
		}
		offers = append(offers, o)
	}
	sort.SliceStable(offers, func(i, j int) bool { return offers[i].weight > offers[j].weight })
	for _, o := range offers {
		switch {
		case o.weight == 0:
		case o.coding == "gzip", o.coding == "br":
			return o.coding, true
		case o.coding == "identity":
			return "", true
		}
	}
	return "", len(offers) > 0
}
