package http1

import (
	"bytes"
	"context"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
)

// refusal is an answer to what is not a request that can be handled. The
// connection ends with it.
type refusal struct {
	status int
	text   string
}

// Error implements error.
func (e *refusal) Error() string { return e.text }

// The texts are workerd's.
var (
	errVersion  = &refusal{http.StatusBadRequest, "invalid HTTP version parsed"}
	errMethod   = &refusal{http.StatusBadRequest, "invalid HTTP method parsed"}
	errHeader   = &refusal{http.StatusBadRequest, "invalid HTTP header parsed"}
	errURI      = &refusal{http.StatusBadRequest, "invalid URI"}
	errLongURI  = &refusal{http.StatusRequestURITooLong, "URI too long"}
	errLength   = &refusal{http.StatusBadRequest, "invalid content-length parsed"}
	errCoding   = &refusal{http.StatusBadRequest, "invalid transfer-encoding parsed"}
	errNoCoding = &refusal{http.StatusBadRequest, "unexpected transfer-encoding parsed"}
	errHead     = &refusal{http.StatusRequestHeaderFieldsTooLarge, "message head is too large"}
	errHost     = &refusal{http.StatusBadRequest, "Bad Request"}
	errUnknown  = &refusal{http.StatusNotImplemented, "ERROR: Unrecognized request method."}
)

// methods are those that workerd knows (kj/compat/http.h, KJ_HTTP_FOR_EACH_METHOD),
// and CONNECT, which is the handler's to refuse.
var methods = map[string]bool{
	"GET": true, "HEAD": true, "POST": true, "PUT": true, "DELETE": true, "PATCH": true, "PURGE": true, "OPTIONS": true, "TRACE": true,
	"COPY": true, "LOCK": true, "MKCOL": true, "MOVE": true, "PROPFIND": true, "PROPPATCH": true, "SEARCH": true, "UNLOCK": true, "ACL": true,
	"REPORT": true, "MKACTIVITY": true, "CHECKOUT": true, "MERGE": true,
	"M-SEARCH": true, "NOTIFY": true, "SUBSCRIBE": true, "UNSUBSCRIBE": true,
	"QUERY": true, "BAN": true, "CONNECT": true,
}

// uriBytes is the longest request target, as in workerd.
const uriBytes = 65534

// head is a request's head and how its body is framed.
type head struct {
	req     *http.Request
	length  int64 // of the body; -1: chunked
	close   bool  // the connection ends with the answer
	expects bool  // the client waits for 100 Continue
}

// wholeHead is the length of the head at the beginning of b, with the empty
// line; 0 if it has not come whole. from is where the last search ended.
func wholeHead(b []byte, from int) int {
	for i := max(from-3, 0); i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return 0
		}
		i += n
		switch rest := b[i+1:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return i + 2
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return i + 3
		}
	}
	return 0
}

// parseHead makes a request of a whole head (RFC 9112, 2 to 6). As in workerd a
// line may end with a line feed alone.
func parseHead(ctx context.Context, text string) (*head, error) {
	line, rest := cutLine(text)
	method, line, ok := strings.Cut(line, " ")
	if !ok || !token(method) {
		return nil, errMethod
	}
	target, version, ok := strings.Cut(line, " ")
	if !ok || target == "" || !printable(target) {
		return nil, errURI
	}
	if len(target) > uriBytes {
		return nil, errLongURI
	}
	minor := 1
	switch version {
	case "HTTP/1.1":
	case "HTTP/1.0":
		minor = 0
	default:
		return nil, errVersion
	}
	header := make(http.Header, strings.Count(rest, "\n"))
	if err := parseFields(header, rest); err != nil {
		return nil, err
	}
	hosts := header["Host"]
	switch {
	case len(hosts) > 1, minor == 1 && len(hosts) == 0:
		return nil, errHost
	case !methods[method]:
		return nil, errUnknown
	}
	r := noRequest.WithContext(ctx)
	r.Method, r.RequestURI, r.URL = method, target, parseTarget(target)
	r.Proto, r.ProtoMajor, r.ProtoMinor = version, 1, minor
	r.Header = header
	if len(hosts) == 1 {
		r.Host = hosts[0]
		delete(header, "Host")
	}
	if r.URL.Host != "" {
		r.Host = r.URL.Host // RFC 9112, 3.2.2
	}
	h := &head{req: r}
	connection := strings.ToLower(strings.Join(header["Connection"], ","))
	h.close = hasToken(connection, "close") || minor == 0 && !hasToken(connection, "keep-alive")
	h.expects = minor == 1 && strings.EqualFold(header.Get("Expect"), "100-continue")
	return h, h.frame()
}

var noRequest = &http.Request{}

// frame finds out where the body ends (RFC 9112, 6.3).
func (h *head) frame() error {
	header := h.req.Header
	coding, lengths := header["Transfer-Encoding"], header["Content-Length"]
	if len(coding) > 0 {
		if h.req.ProtoMinor == 0 {
			return errNoCoding
		}
		all := strings.Split(strings.Join(coding, ","), ",")
		if !strings.EqualFold(strings.TrimSpace(all[len(all)-1]), "chunked") {
			return errCoding
		}
		if len(lengths) > 0 {
			// Somebody between the client and here may have believed the length.
			delete(header, "Content-Length")
			h.close = true
		}
		h.length, h.req.ContentLength = -1, -1
		h.req.TransferEncoding = []string{"chunked"}
		delete(header, "Transfer-Encoding")
		return nil
	}
	if len(lengths) == 0 {
		return nil
	}
	length := int64(-1)
	for part := range strings.SplitSeq(strings.Join(lengths, ","), ",") {
		part = strings.Trim(part, " \t")
		n, err := strconv.ParseUint(part, 10, 63)
		if err != nil || length >= 0 && int64(n) != length {
			return errLength
		}
		length = int64(n)
	}
	h.length, h.req.ContentLength = length, length
	header["Content-Length"] = lengths[:1]
	return nil
}

// cutLine splits text after its first line, whose end it drops.
func cutLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// parseFields adds the fields of text to header, up to the empty line.
func parseFields(header http.Header, text string) error {
	for {
		var line string
		line, text = cutLine(text)
		if line == "" {
			return nil
		}
		name, value, ok := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		if !ok || !token(name) || !fieldValue(value) {
			return errHeader
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		header[name] = append(header[name], value)
	}
}

// parseTarget is a request target as a URL, also where its escapes are not those
// of one: workers get the target itself.
func parseTarget(target string) *url.URL {
	if u, err := url.ParseRequestURI(target); err == nil {
		return u
	}
	path, query, _ := strings.Cut(target, "?")
	return &url.URL{Path: path, RawQuery: query}
}

// token reports whether s is a token (RFC 9110, 5.6.2).
func token(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// printable reports whether s has neither spaces nor control characters.
func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// fieldValue reports whether s may be a field's value (RFC 9110, 5.5).
func fieldValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// hasToken reports whether a list in lower case has an element.
func hasToken(list, element string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(part) == element {
			return true
		}
	}
	return false
}
