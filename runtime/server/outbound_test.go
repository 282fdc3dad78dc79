package server_test

import (
	"fmt"
	"slices"
	"testing"

	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/minidotest"
)

// A request to the network names the worker's zone in CF-Worker, in the spelling that the
// worker gave it, and neither its client nor a host but its URL's: as in wrangler dev.
func TestWayOut(t *testing.T) {
	for config, zone := range map[string]string{
		``:                        "out.example.com",
		`"route": "*.a.test/x*",`: "a.test",
		`"dev": {"host": "dev.test"}, "route": "*.a.test/x*",`:                                          "dev.test",
		`"dev": {"host": "dev.test"}, "routes": [{"pattern": "x.a.test/*", "zone_name": "zone.test"}],`: "zone.test",
	} {
		w := minidotest.NewWorldFrom(t, map[string]string{
			"worker.ts": `export default { async fetch() {
				await fetch("http://up.test/", { headers: { "cf-worker": "mine", host: "other.test", "x-a": "1" } });
				return fetch("http://up.test/", { headers: { "cf-connecting-ip": "1.1.1.1", "x-b": "2" } });
			} }`,
			"wrangler.json": `{"name": "out", ` + config + `"main": "worker.ts", "compatibility_date": "2026-08-01"}`,
		}, minidotest.Options{})
		var got []string
		w.Net.Handle("up.test", func(req *event.Request, done func(*event.Response, error)) func(error) {
			for _, f := range req.Header {
				got = append(got, fmt.Sprint(f))
			}
			got = append(got, ";")
			done(&event.Response{Status: 200}, nil)
			return nil
		})
		w.Do("GET", "http://localhost/", "")
		if want := []string{"{x-a 1}", "{cf-worker " + zone + "}", ";", "{x-b 2}", "{CF-Worker " + zone + "}", ";"}; !slices.Equal(got, want) {
			t.Errorf("%s:\n%q\nwant\n%q", config, got, want)
		}
	}
}
