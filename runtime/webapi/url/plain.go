package url

import (
	"bytes"
	"strconv"
	"strings"
)

// plainURL is a URL that is its own serialization but for dot segments: http or
// https, a lower-case name as its host, and nothing else that the URL standard's
// parser would change. Most Classes of workers are, and reading their parts needs no
// parser. Immutable.
type plainURL struct {
	href string
	// Where the parts of href end that are not empty; a part begins where the
	// one before it ends, or after what sets it apart: // after the scheme, : or @
	// after the name of a user and @ after a password. Without a user userEnd,
	// passwordEnd and nameStart are the same.
	schemeEnd, userEnd, passwordEnd, nameStart, nameEnd, hostEnd, pathEnd, queryEnd int
}

// What may stand in a part of a plain URL.
const (
	plainUser = 1 << iota
	plainHost
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
	add(plainUser, lower+upper+digits+"-._~!$&'()*+,%")
	add(plainHost, lower+digits+".-")
	add(plainPath, lower+upper+digits+"-._~!$&'()*+,;=:@/%")
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
	u.readUser(text)
	u.nameEnd = plainEnd(text, u.nameStart, plainHost)
	u.hostEnd = u.nameEnd
	if !plainName(text[u.nameStart:u.nameEnd]) {
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
	u.pathEnd = plainEnd(text, u.hostEnd, plainPath)
	if path := text[u.hostEnd:u.pathEnd]; mayHaveDots(path) {
		short := withoutDots(path)
		text, u.pathEnd = text[:u.hostEnd]+short+text[u.pathEnd:], u.hostEnd+len(short)
	}
	u.href = text
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

// readUser reads the name of a user and a password that are not empty. Anything
// else before an @ is no plain host.
func (u *plainURL) readUser(text string) {
	start := u.schemeEnd + len("//")
	u.userEnd, u.passwordEnd, u.nameStart = start, start, start
	userEnd := plainEnd(text, start, plainUser)
	end := userEnd
	if end < len(text) && text[end] == ':' {
		end = plainEnd(text, end+1, plainUser)
	}
	if end < len(text) && text[end] == '@' && userEnd > start && text[end-1] != ':' {
		u.userEnd, u.passwordEnd, u.nameStart = userEnd, end, end+1
	}
}

// mayHaveDots reports whether a path may have dot segments.
func mayHaveDots(path string) bool {
	return strings.Contains(path, "/.") || strings.Contains(path, "/%2")
}

// withoutDots is a path without its dot segments (URL, section 4.4, path state).
func withoutDots(path string) string {
	out := make([]byte, 0, len(path))
	for rest, last := path[1:], false; !last; {
		segment, after, more := strings.Cut(rest, "/")
		rest, last = after, !more
		dots := dotsOf(segment)
		if dots == 0 {
			out = append(append(out, '/'), segment...)
			continue
		}
		if dots == 2 {
			out = out[:max(0, bytes.LastIndexByte(out, '/'))]
		}
		if last {
			out = append(out, '/')
		}
	}
	return string(out)
}

// dotsOf is how many dots a dot segment has, 0 for any other segment.
func dotsOf(segment string) (n int) {
	for ; segment != ""; n++ {
		switch {
		case n == 2:
			return 0
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && segment[0] == '%' && segment[1] == '2' && segment[2]|0x20 == 'e':
			segment = segment[3:]
		default:
			return 0
		}
	}
	return n
}

// plainName reports whether a host is a name that needs no IDNA and is no
// number (URL, sections 3.5 and 3.6).
func plainName(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && last[0] >= 'a' && last[0] <= 'z' && host[0] != '.' && len(host) <= 253 &&
		!strings.Contains(host, "..") && !strings.Contains(host, "--")
}

func (u plainURL) protocol() string { return u.href[:u.schemeEnd] }
func (u plainURL) username() string { return u.href[u.schemeEnd+len("//") : u.userEnd] }
func (u plainURL) password() string { return strings.TrimPrefix(u.href[u.userEnd:u.passwordEnd], ":") }
func (u plainURL) host() string     { return u.href[u.nameStart:u.hostEnd] }
func (u plainURL) hostname() string { return u.href[u.nameStart:u.nameEnd] }
func (u plainURL) port() string     { return strings.TrimPrefix(u.href[u.nameEnd:u.hostEnd], ":") }
func (u plainURL) pathname() string { return u.href[u.hostEnd:u.pathEnd] }
func (u plainURL) origin() string {
	if u.nameStart == u.userEnd {
		return u.href[:u.hostEnd]
	}
	return u.href[:u.schemeEnd] + "//" + u.host()
}
func (u plainURL) search() string { return u.href[u.pathEnd:u.queryEnd] }
func (u plainURL) hash() string   { return u.href[u.queryEnd:] }
