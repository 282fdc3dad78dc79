package webapi

import (
	"strconv"
	"strings"
)

// plainURL is a URL that is its own serialization: http or https, a lower-case
// name as its host, and nothing that the URL standard's parser would change. Most
// URLs of workers are, and reading their parts needs no parser. Immutable.
type plainURL struct {
	href string
	// Where the parts of href end that are not empty; a part begins where the
	// one before it ends.
	schemeEnd, nameEnd, hostEnd, pathEnd, queryEnd int
}

// What may stand in a part of a plain URL. Dots and percents of paths may make
// dot segments, which are the parser's.
const (
	plainHost = 1 << iota
	plainPath
	plainQuery
	plainFragment
)

var plainBytes = func() (table [256]byte) {
	add := func(where byte, chars string) {
		for i := range len(chars) {
			table[chars[i]] |= where
		}
	}
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	add(plainHost, lower+digits+".-")
	add(plainPath, lower+upper+digits+"-._~!$&'()*+,;=:@/")
	add(plainQuery, lower+upper+digits+"-._~!$&()*+,;=:@/?%")
	add(plainFragment, lower+upper+digits+"-._~!$&'()*+,;=:@/?%")
	return table
}()

// plainEnd is the end of the bytes from i on that may stand in a part.
func plainEnd(text string, i int, where byte) int {
	for i < len(text) && plainBytes[text[i]]&where != 0 {
		i++
	}
	return i
}

// parsePlain reads a plain URL; ok is false for any other text, which is the
// parser's to judge.
func parsePlain(text string) (u plainURL, ok bool) {
	defaultPort := "443"
	switch {
	case strings.HasPrefix(text, "https://"):
		u.schemeEnd = len("https:")
	case strings.HasPrefix(text, "http://"):
		u.schemeEnd, defaultPort = len("http:"), "80"
	default:
		return u, false
	}
	start := u.schemeEnd + len("//")
	u.nameEnd = plainEnd(text, start, plainHost)
	u.hostEnd = u.nameEnd
	if !plainName(text[start:u.nameEnd]) {
		return u, false
	}
	if u.hostEnd < len(text) && text[u.hostEnd] == ':' {
		u.hostEnd++
		for u.hostEnd < len(text) && text[u.hostEnd] >= '0' && text[u.hostEnd] <= '9' {
			u.hostEnd++
		}
		port := text[u.nameEnd+1 : u.hostEnd]
		if _, err := strconv.ParseUint(port, 10, 16); err != nil || port == defaultPort || port[0] == '0' && len(port) > 1 {
			return u, false
		}
	}
	if u.hostEnd == len(text) {
		text += "/"
	}
	if text[u.hostEnd] != '/' {
		return u, false
	}
	u.href = text
	u.pathEnd = plainEnd(text, u.hostEnd, plainPath)
	if strings.Contains(text[u.hostEnd:u.pathEnd], "/.") {
		return u, false
	}
	u.queryEnd = u.pathEnd
	if u.queryEnd < len(text) && text[u.queryEnd] == '?' {
		if u.queryEnd = plainEnd(text, u.queryEnd+1, plainQuery); u.queryEnd == u.pathEnd+1 {
			return u, false
		}
	}
	end := u.queryEnd
	if end < len(text) && text[end] == '#' {
		if end = plainEnd(text, end+1, plainFragment); end == u.queryEnd+1 {
			return u, false
		}
	}
	return u, end == len(text)
}

// plainName reports whether a host is a name that needs no IDNA and is no
// number (URL, sections 3.5 and 3.6).
func plainName(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && last[0] >= 'a' && last[0] <= 'z' && host[0] != '.' && len(host) <= 253 &&
		!strings.Contains(host, "..") && !strings.Contains(host, "--")
}

func (u plainURL) protocol() string { return u.href[:u.schemeEnd] }
func (u plainURL) origin() string   { return u.href[:u.hostEnd] }
func (u plainURL) host() string     { return u.href[u.schemeEnd+len("//") : u.hostEnd] }
func (u plainURL) hostname() string { return u.href[u.schemeEnd+len("//") : u.nameEnd] }
func (u plainURL) port() string     { return strings.TrimPrefix(u.href[u.nameEnd:u.hostEnd], ":") }
func (u plainURL) pathname() string { return u.href[u.hostEnd:u.pathEnd] }
func (u plainURL) search() string   { return u.href[u.pathEnd:u.queryEnd] }
func (u plainURL) hash() string     { return u.href[u.queryEnd:] }
