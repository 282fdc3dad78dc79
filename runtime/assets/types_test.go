package assets

import "testing"

// Types of rarer files are those of wrangler dev, too (4.164.0).
func TestContentTypes(t *testing.T) {
	for name, want := range map[string]string{
		"a.ppm": "image/x-portable-pixmap", "a.html": "text/html; charset=utf-8", "a.X3D": "model/x3d+xml", "a.js": "text/javascript; charset=utf-8", "a": "", "a.unheard": "",
	} {
		if got := contentType(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
