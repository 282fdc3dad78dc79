package fetch

import "testing"

// Before fetch_standard_url a URL is sent as kj::Url writes it; each answer is workerd's.
func TestLegacyURL(t *testing.T) {
	for given, want := range map[string]string{
		"http://x": "http://x", "HTTP://X/": "http://x/", "http://x?a": "http://x?a", "http://x#f": "http://x", "http://x/a b": "http://x/a%20b",
		"http://x/%zz": "http://x/%zz", "http://x/ü": "http://x/ü", "http://exämple.com/": "", "http://x:80/": "http://x:80/", "http://x/a/../b": "http://x/b",
		"http://x/a/./b/": "http://x/a/b/", "http://x/a//b": "http://x/a//b", "http://u:p@x/": "http://x/", "http://x/?q=a b&c=\"d\"": "http://x/?q=a%20b&c=\"d\"",
		"/rel": "", "x": "", "": "", " http://x/ ": "", "http:///x": "http:///x", "http://": "http://", "http://x\\y": "", "http://[::1]/": "http://[::1]/",
		"http://x/\tb": "http://x/%09b", "http://X.Y/;p?x#y z": "http://x.y/;p?x", "ftp://x/": "", "http://x/?": "http://x/?", "http://x/#": "http://x/",
		"http://x/a#b?c": "http://x/a", "http://x:abc/": "http://x:abc/", "http://x_y/": "http://x_y/", "http://x y/": "", "http:x": "", "http://x/..": "http://x/",
		"http://x/a/..": "http://x/", "http://a@b@c/": "", "http://x/\u0001": "http://x/%01",
	} {
		if got, ok := legacyURL(given); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", given, got, ok, want)
		}
	}
}
