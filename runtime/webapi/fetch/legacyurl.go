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
	text, _, _ = strings.Cut(text, "#")
	scheme, rest, found := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	if !found || scheme != "http" && scheme != "https" {
		return "", false
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, rest := rest[:end], rest[end:]
	if _, after, credentials := strings.Cut(host, "@"); credentials {
		host = after
	}
	host = strings.ToLower(host)
	if strings.Trim(host, hostCharacters) != "" {
		return "", false
	}
	path, query, queried := strings.Cut(rest, "?")
	out = scheme + "://" + host + escapeControls(withoutDots(path))
	if queried {
		out += "?" + escapeControls(query)
	}
	return out, true
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
