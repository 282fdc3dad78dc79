package assets

import (
	"net/url"
	"strings"
)

// intent is what a path leads to: a file, or another path.
type intent struct {
	file     string // absolute path of an asset
	redirect string // "" to serve file
	missing  bool   // file stands for what was not found, with status 404
}

// step is one attempt: if to is empty, serve file where it exists; otherwise
// redirect to the path to, where that would serve exactly this file.
type step struct{ file, to string }

// intent decides what a decoded path leads to; follow is false while it is
// asked where a redirect would end.
func (l *lookup) intent(p string, follow bool) (intent, bool) {
	for _, s := range htmlSteps(l.html, p) {
		switch {
		case s.to == "" && l.exists(s.file):
			return intent{file: s.file}, true
		case s.to != "" && follow && !l.exists(s.to) && l.exists(s.file):
			if in, ok := l.intent(s.to, false); ok && in.file == s.file {
				return intent{redirect: s.to}, true
			}
		}
	}
	return l.missing(p)
}

// missing is the not-found handling.
func (l *lookup) missing(p string) (intent, bool) {
	switch l.notFound {
	case "single-page-application":
		return intent{file: "/index.html"}, l.exists("/index.html")
	case "404-page":
		for dir := p; dir != ""; {
			dir = dir[:max(0, strings.LastIndexByte(dir, '/'))]
			if page := dir + "/404.html"; l.exists(page) {
				return intent{file: page, missing: true}, true
			}
		}
	}
	return intent{}, false
}

// htmlSteps is what html_handling tries for a path, in order.
func htmlSteps(handling, p string) []step {
	switch handling {
	case "auto-trailing-slash":
		return autoSteps(p)
	case "force-trailing-slash":
		return forceSteps(p)
	case "drop-trailing-slash":
		return dropSteps(p)
	}
	return []step{{file: p}}
}

// autoSteps: /foo.html is served at /foo, /foo/index.html at /foo/.
func autoSteps(p string) (s []step) {
	if base, ok := strings.CutSuffix(p, "/index"); ok {
		s = []step{{file: p}, {p + ".html", base + "/"}, {base + ".html", base}}
	} else if base, ok := strings.CutSuffix(p, "/index.html"); ok {
		s = []step{{p, base + "/"}, {base + ".html", base}}
	} else if base, ok := strings.CutSuffix(p, "/"); ok {
		s = []step{{file: p + "index.html"}, {base + ".html", base}}
	} else if base, ok := strings.CutSuffix(p, ".html"); ok {
		s = []step{{p, base}, {base + "/index.html", base + "/"}}
	}
	return append(s, step{file: p}, step{file: p + ".html"}, step{p + "/index.html", p + "/"})
}

// forceSteps: both are served at /foo/.
func forceSteps(p string) (s []step) {
	if base, ok := strings.CutSuffix(p, "/index"); ok {
		s = []step{{file: p}, {p + ".html", base + "/"}, {base + ".html", base + "/"}}
	} else if base, ok := strings.CutSuffix(p, "/index.html"); ok {
		s = []step{{p, base + "/"}, {base + ".html", base + "/"}}
	} else if base, ok := strings.CutSuffix(p, "/"); ok {
		s = []step{{file: p + "index.html"}, {file: base + ".html"}}
	} else if base, ok := strings.CutSuffix(p, ".html"); ok {
		s = []step{{p, base + "/"}, {file: p}, {base + "/index.html", base + "/"}}
	}
	return append(s, step{file: p}, step{p + ".html", p + "/"}, step{p + "/index.html", p + "/"})
}

// dropSteps: both are served at /foo.
func dropSteps(p string) (s []step) {
	switch base, ok := strings.CutSuffix(p, "/index"); {
	case p == "/index":
		s = []step{{file: p}, {"/index.html", "/"}}
	case ok:
		s = []step{{file: p}, {base + ".html", base}, {p + ".html", base}}
	case p == "/index.html":
		s = []step{{p, "/"}}
	case p == "/":
		s = []step{{file: "/index.html"}}
	default:
		if base, ok := strings.CutSuffix(p, "/index.html"); ok {
			s = []step{{p, base}, {file: p}, {base + ".html", base}}
		} else if base, ok := strings.CutSuffix(p, "/"); ok {
			s = []step{{base + ".html", base}, {base + "/index.html", base}}
		} else if base, ok := strings.CutSuffix(p, ".html"); ok {
			s = []step{{p, base}, {base + "/index.html", base}}
		}
	}
	return append(s, step{file: p}, step{file: p + ".html"}, step{file: p + "/index.html"})
}

// decodePath undoes percent-encoding segment by segment and joins empty
// segments, which could otherwise make a redirect to another host ("//host").
func decodePath(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		if decoded, err := url.PathUnescape(part); err == nil && validUTF8(decoded) {
			parts[i] = decoded
		}
	}
	p = strings.Join(parts, "/")
	for strings.Contains(p, "//") {
		p = strings.ReplaceAll(p, "//", "/")
	}
	return p
}

func validUTF8(s string) bool { return strings.ToValidUTF8(s, "") == s }

// encodePath writes a path in the one form under which it is served: each
// segment as encodeURIComponent has it.
func encodePath(p string) string {
	const keep = "-_.!~*'()/"
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(p) {
		c := p[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return b.String()
}
