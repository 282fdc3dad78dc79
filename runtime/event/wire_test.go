package event

import (
	"fmt"
	"testing"
)

// Headers that workerd knows leave only with a value; others leave empty, too.
func TestEmptyHeaders(t *testing.T) {
	for field, want := range map[Field]bool{
		{"Set-Cookie", ""}: false, {"etag", ""}: false, {"Vary", ""}: false, {"Content-Disposition", ""}: false, {"date", ""}: false,
		{"Set-Cookie", "a=1"}: true, {"X-Anything", ""}: true, {"Content-Security-Policy", ""}: true,
	} {
		if got := field.Leaves(); got != want {
			t.Errorf("%q: %q leaves: %v", field.Name, field.Value, got)
		}
	}
}

// Names that workerd knows have its spelling and, but for Set-Cookie, one line; others
// are written as the worker wrote them.
func TestLinesOfHeaders(t *testing.T) {
	for name, want := range map[string]string{
		"etag": "ETag true", "SEC-websocket-protocol": "Sec-WebSocket-Protocol true", "Www-Authenticate": "WWW-Authenticate true", "origin": "Origin true",
		"cf-kv-metadata": "CF-KV-Metadata true", "set-cookie": "Set-Cookie false", "x-mY": "x-mY false", "dnt": "dnt false",
	} {
		got, joined := Field{Name: name}.Line()
		if got := fmt.Sprint(got, " ", joined); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
