package fetch

import (
	"fmt"
	"strings"
)

// hostCharacters are those of a host that kj::Url takes.
const hostCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-._:[]"

// legacyURL is a URL as workerd sends it before the flag fetch_standard_url (kj::Url):
// without credentials and fragment, the dots of its path resolved, the scheme and the host
// in lower case, and everything else as it was given but for spaces and controls. ok is
// false for what is no absolute http or https URL there.
func legacyURL(text string) (out string, ok bool) {
	scheme, _ := legacyScheme(text)
	if scheme != "http" && scheme != "https" {
		return "", false
	}
	text, _, _ = strings.Cut(text, "#")
	rest := text[len(scheme)+len("://"):]
	host := legacyHost(rest)
	rest = rest[len(host):]
	if _, after, credentials := strings.Cut(host, "@"); credentials {
		host = after
	}
	host = strings.ToLower(host)
	path, query, queried := strings.Cut(rest, "?")
	out = scheme + "://" + host + escapeControls(withoutDots(path))
	if queried {
		out += "?" + escapeControls(query)
	}
	return out, true
}

// legacyScheme is the scheme of a URL of any kind that kj::Url takes, in lower case: one
// with a host of characters that may be in one, which may be empty.
func legacyScheme(text string) (scheme string, ok bool) {
	text, _, _ = strings.Cut(text, "#")
	scheme, rest, found := strings.Cut(text, "://")
	host := legacyHost(rest)
	if _, after, credentials := strings.Cut(host, "@"); credentials {
		host = after
	}
	scheme = strings.ToLower(scheme)
	if !found || scheme == "" || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" || strings.Trim(strings.ToLower(host), hostCharacters) != "" {
		return "", false
	}
	return scheme, true
}

// legacyHost is what rest, a URL after its "://", has before its path and query.
func legacyHost(rest string) string {
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		return rest[:end]
	}
	return rest
}

// withoutCredentials drops the user and the password of a URL in its normal form.
func withoutCredentials(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return text
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	return scheme + "://" + rest[at+1:]
}

// withoutDots resolves the segments "." and ".." of a path.
func withoutDots(path string) string {
	if path == "" {
		return ""
	}
	segments := strings.Split(path[1:], "/")
	var kept []string
	for i, segment := range segments {
		last := i == len(segments)-1
		switch segment {
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		case ".":
		default:
			kept = append(kept, segment)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}

// escapeControls writes spaces and controls as escapes.
func escapeControls(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
