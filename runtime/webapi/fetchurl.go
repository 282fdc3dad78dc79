package webapi

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"minido.dev/minido/runtime/event"
)

// urlParser has the path percent-encode set of the standard of today, which
// has U+005E (^) in it (URL, section 1.3).
var urlParser = whatwg.NewParser(whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')),
	whatwg.WithPreParseHostFunc(maskHost), whatwg.WithPostParseHostFunc(unmaskHost))

// parseURL is the URL standard's parser; base may be "".
func parseURL(text, base string) (*whatwg.Url, error) {
	parse := func() (*whatwg.Url, error) { return urlParser.Parse(text) }
	if base != "" {
		parse = func() (*whatwg.Url, error) { return urlParser.ParseRef(base, text) }
	}
	u, err := parse()
	if err != nil || !u.OpaquePath() || !strings.HasSuffix(u.Pathname(), " ") {
		return u, err
	}
	// The space that a query or a fragment follows is encoded (section 4.4,
	// opaque path state).
	href, end := u.Href(false), len(u.Protocol())+len(u.Pathname())
	if end == len(href) {
		return u, nil
	}
	return urlParser.Parse(href[:end-1] + "%20" + href[end:])
}

var errDataURL = errors.New("invalid data: URL")

// dataResponse answers a data: URL (Fetch, section 6).
func dataResponse(text string) (*event.Response, error) {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "data:"), "#")
	meta, data, ok := strings.Cut(text, ",")
	if !ok {
		return nil, errDataURL
	}
	raw := percentDecode(data)
	meta = strings.TrimSpace(meta)
	content := []byte(raw)
	if head, isBase64 := cutBase64(meta); isBase64 {
		meta = head
		packed := strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \t\n\f\r", r) {
				return -1
			}
			return r
		}, raw)
		var err error
		if len(packed)%4 == 0 {
			packed = strings.TrimSuffix(strings.TrimSuffix(packed, "="), "=")
		}
		if content, err = base64.RawStdEncoding.DecodeString(packed); err != nil {
			return nil, errDataURL
		}
	}
	if strings.HasPrefix(meta, ";") {
		meta = "text/plain" + meta
	}
	mime, ok := parseMIME(meta)
	if !ok {
		mime = mimeType{"text/plain", []mimeParam{{"charset", "US-ASCII"}}}
	}
	return &event.Response{Status: 200, StatusText: "OK", URL: "data:" + text, Body: event.Bytes(content),
		Header: event.Header{{Name: "Content-Type", Value: mime.String()}}}, nil
}

// percentDecode decodes %XX; what is none stays (URL, section 1.3).
func percentDecode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b.WriteByte(c[0])
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// cutBase64 takes a final ";base64" away, whatever its case and the spaces in it.
func cutBase64(meta string) (head string, ok bool) {
	i := strings.LastIndexByte(meta, ';')
	if i < 0 || !strings.EqualFold(strings.TrimLeft(meta[i+1:], " "), "base64") {
		return meta, false
	}
	return meta[:i], true
}
