package event_test

import (
	"testing"

	"minido.dev/minido/runtime/event"
)

// Phrases are those that workerd 1.20261117.1 sent for responses without a statusText.
func TestReasonsAreWorkerds(t *testing.T) {
	for status, want := range map[int]string{
		200: "OK", 203: "Non-Authoritative Information", 226: "IM Used", 299: "Successful", 306: "Redirection", 308: "Permanent Redirect",
		404: "Not Found", 413: "Payload Too Large", 414: "URI Too Long", 416: "Range Not Satisfiable", 418: "I'm a teapot", 419: "Client Error",
		425: "Client Error", 451: "Unavailable For Legal Reasons", 500: "Internal Server Error", 511: "Network Authentication Required", 599: "Server Error",
		99: "", 600: "",
	} {
		if got := event.Reason(status); got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
}
