package fetch

import (
	"encoding/base64"
	"errors"
	"strings"

	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/mime"
	"minido.dev/minido/runtime/webapi/url"
)

var errDataURL = errors.New("invalid data: URL")

// dataResponse answers a data: URL (Fetch, section 6).
func dataResponse(text string) (*event.Response, error) {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "data:"), "#")
	meta, data, ok := strings.Cut(text, ",")
	if !ok {
		return nil, errDataURL
	}
	raw := url.PercentDecode(data)
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
	typ, ok := mime.Parse(meta)
	if !ok {
		typ = mime.Type{Essence: "text/plain", Params: []mime.Parameter{{Name: "charset", Value: "US-ASCII"}}}
	}
	return &event.Response{Status: 200, StatusText: "OK", Body: event.Bytes(content),
		Header: event.Header{{Name: "Content-Type", Value: typ.String()}}}, nil
}

// cutBase64 takes a final ";base64" away, whatever its case and the spaces in it.
func cutBase64(meta string) (head string, ok bool) {
	i := strings.LastIndexByte(meta, ';')
	if i < 0 || !strings.EqualFold(strings.TrimLeft(meta[i+1:], " "), "base64") {
		return meta, false
	}
	return meta[:i], true
}
