package url

import (
	"encoding/hex"
	"errors"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// urlParser has the path percent-encode set of the standard of today, which
// has U+005E (^) in it (URL, section 1.3).
var urlParser = whatwg.NewParser(whatwg.WithPathPercentEncodeSet(whatwg.PathPercentEncodeSet.Set('^')),
	whatwg.WithPreParseHostFunc(maskHost), whatwg.WithPostParseHostFunc(unmaskHost))

// maxLength bounds, in bytes, what is parsed as a URL or as a part of one: the parser takes
// seconds for more, and cannot be interrupted.
const maxLength = 8 << 20

// maxParts bounds the bytes times the slashes, and ten times the at signs: the parser joins the
// segments of a path one by one, and reads what is before an at sign again at the next.
const maxParts = 4e9

var errTooLong = errors.New("minido parses URLs of up to 8 MB, and 60 KB if each byte is a slash")

// tooLong reports whether the parser would take seconds for a URL or a part of one.
func tooLong(text string) bool {
	if len(text) < 1<<14 {
		return false
	}
	parts := strings.Count(text, "/") + strings.Count(text, `\`) + 10*strings.Count(text, "@")
	return len(text) > maxLength || parts*len(text) > maxParts
}

// Parse is the URL standard's parser; base may be "". It refuses what is tooLong.
func Parse(text, base string) (*whatwg.Url, error) {
	if tooLong(text) || tooLong(base) {
		return nil, errTooLong
	}
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

// PercentDecode decodes %XX; what is none stays (URL, section 1.3).
func PercentDecode(s string) string {
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
