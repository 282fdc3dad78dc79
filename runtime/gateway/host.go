package gateway

import (
	"net"
	"slices"
	"strconv"
	"strings"
)

// allowed reports whether a Host header names this server. A web page on the
// internet can make a browser send requests to 127.0.0.1 under the page's own
// host name (DNS rebinding); this check is what stops it.
func (g *Gateway) allowed(host string) bool {
	if g.isHere(host) {
		return true
	}
	name := strings.ToLower(hostname(host))
	return name != "" && slices.ContainsFunc(g.opts.AllowedHosts, func(a string) bool {
		a = strings.ToLower(a)
		return a == "*" || a == name || strings.HasPrefix(a, ".") && (name == a[1:] || strings.HasSuffix(name, a))
	})
}

// isHere reports whether a Host header names this machine, as every resolver has it.
func (g *Gateway) isHere(host string) bool {
	name := strings.ToLower(hostname(host))
	switch name {
	case "localhost", "127.0.0.1", "::1":
		return true
	case "":
		return false
	}
	if strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip := net.ParseIP(name)
	if ip == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range g.bound {
		// A listener on all addresses is reached under any of them; an
		// address, unlike a name, cannot be rebound.
		if b.Equal(ip) || b.IsUnspecified() {
			return true
		}
	}
	return false
}

// hostname is a Host header without its port and brackets, "" if it is malformed.
func hostname(host string) string {
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 || end+1 < len(host) && !port(host[end+1:]) {
			return ""
		}
		return host[1:end]
	}
	name, rest := host, ""
	if i := strings.IndexByte(host, ':'); i >= 0 {
		name, rest = host[:i], host[i:]
	}
	if rest != "" && !port(rest) || strings.ContainsAny(name, "/\\@?# \t") {
		return ""
	}
	return name
}

func port(s string) bool {
	_, err := strconv.ParseUint(s[1:], 10, 16)
	return s[0] == ':' && (err == nil || len(s) == 1)
}

// printable quotes what a client sent for a text that people read.
func printable(s string) string {
	if len(s) > 100 {
		s = s[:100] + "..."
	}
	return strconv.QuoteToASCII(s)
}
