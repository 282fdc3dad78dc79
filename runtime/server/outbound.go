package server

import (
	"cmp"
	"strings"

	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/exchange"
)

// wayOut is a worker's way to the network, as in wrangler dev (miniflare's
// outbound.worker): a request names the worker's zone, not its client, and the host is
// that of its URL, whatever its header says.
func wayOut(through exchange.Exchange, p *config.Project) exchange.Exchange {
	zone := cmp.Or(p.Zone, p.Dev.Host, p.Name+".example.com")
	return func(req *event.Request, done func(*event.Response, error)) func(error) {
		out := *req
		name := "CF-Worker"
		for _, f := range req.Header {
			if strings.EqualFold(f.Name, name) {
				name = f.Name // it keeps the spelling that it came with
			}
		}
		out.Header = append(exchange.Without(req.Header, "cf-connecting-ip", "cf-worker", "host"), event.Field{Name: name, Value: zone})
		return through(&out, done)
	}
}
