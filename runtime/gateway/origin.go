package gateway

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/event"
)

// Origin is a scheme and a host, with its port if it has one.
type Origin struct{ Scheme, Host string }

// String is the origin as URLs begin with it.
func (o Origin) String() string { return o.Scheme + "://" + o.Host }

// origins are where a request was sent to and what the worker sees instead: they
// differ with dev.host, routes, upstream_protocol (wrangler:
// templates/startDevWorker/ProxyWorker.ts).
type origins struct{ outer, inner Origin }

func (g *Gateway) origins(r *http.Request) (o origins) {
	o.outer = Origin{"http", r.Host}
	if r.TLS != nil {
		o.outer.Scheme = "https"
	}
	o.inner = o.outer
	if g.opts.Origin == nil {
		return o
	}
	shown := g.opts.Origin()
	if shown.Scheme != "" {
		o.inner.Scheme = shown.Scheme
	}
	if shown.Host != "" {
		o.inner.Host = shown.Host
	}
	return o
}

// inwards are the headers of a request as the worker sees them, outwards those of a
// response as the client does.
func (o origins) inwards(header event.Header) event.Header {
	return rewriteOrigins(header, o.outer, o.inner)
}

func (o origins) outwards(header event.Header) event.Header {
	return rewriteOrigins(header, o.inner, o.outer)
}

// An origin within a header's value.
var originInValue = lazyregexp.New(`(?i)https?://[^/?#\s,;"']+`)

// rewriteOrigins replaces URLs of one host by those of another, and the domain of
// cookies.
func rewriteOrigins(header event.Header, from, to Origin) event.Header {
	if from == to {
		return header
	}
	header = slices.Clone(header) // who made it may keep it
	for i, f := range header {
		switch {
		case !strings.Contains(f.Value, hostname(from.Host)):
		case strings.EqualFold(f.Name, "host"):
			header[i].Value = to.Host
		case strings.EqualFold(f.Name, "set-cookie"):
			domain := regexp.MustCompile(`Domain=` + regexp.QuoteMeta(hostname(from.Host)) + `($|;|,)`)
			header[i].Value = domain.ReplaceAllString(f.Value, "Domain="+strings.ReplaceAll(hostname(to.Host), "$", "$$")+"$1")
		default:
			header[i].Value = originInValue.ReplaceAllStringFunc(f.Value, func(origin string) string {
				if _, host, _ := strings.Cut(origin, "://"); strings.EqualFold(host, from.Host) {
					return to.String()
				}
				return origin
			})
		}
	}
	return header
}
