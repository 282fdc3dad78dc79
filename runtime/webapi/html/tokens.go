package html

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"minido.dev/minido/runtime/webapi/encoding"
	"minido.dev/minido/runtime/webapi/mime"
)

// htmlToken is a piece of a document as it is written, and what of the
// rewriter's selectors concerns it. Immutable.
type htmlToken struct {
	kind    html.TokenType
	raw     string
	name    string // of a tag, as written; of a doctype
	attrs   []rawAttr
	matches []int // the selectors that a start tag matches, or within which a text or comment stands
	id      int   // of a start tag
	space   string
	closes  []int // of an end tag: the ids of the matched start tags that it closes, the innermost first
	alone   bool  // a start tag that no end tag can close
	slash   bool  // a start tag that ends with "/>"
	last    bool  // a text after which its text node ends
	doctype [2]*string
}

// voidElements have no end tag (HTML, section 13.1.2).
const voidElements = " area base br col embed hr img input link meta param source track wbr "

// rawTextElements have no markup in them (HTML, section 13.2.5.1 on, and where
// the tree construction switches to those states).
const rawTextElements = " iframe noembed noframes noscript plaintext script style textarea title xmp "

// The namespaces that elements of a document have.
const (
	spaceHTML = "http://www.w3.org/1999/xhtml"
	spaceSVG  = "http://www.w3.org/2000/svg"
	spaceMath = "http://www.w3.org/1998/Math/MathML"
)

// htmlSplitter splits a document into tokens as it comes in, and matches every
// element against selectors, on the document as it came: what handlers change
// is not seen. Loop-confined.
type htmlSplitter struct {
	selectors [][]*selector
	open      *openElement // the innermost one; at the end of its parents is one without a name
	started   int          // start tags so far
	rawText   string       // the element of raw text that is open
	buf       []byte       // what has come and is no whole token yet
	retryAt   int          // the length of buf at which it is looked at again
	inText    bool         // the last token was a text, whose node may go on
}

func newHTMLSplitter(selectors [][]*selector) *htmlSplitter {
	return &htmlSplitter{selectors: selectors, open: &openElement{space: spaceHTML}}
}

// reopened is a start tag that puts a tokenizer where this one is: in the raw
// text of an element.
func (s *htmlSplitter) reopened() string {
	if s.rawText == "" {
		return ""
	}
	return "<" + s.rawText + ">"
}

// starvedReader tells whether more was asked of it than it has.
type starvedReader struct {
	io.Reader
	starved bool
}

func (r *starvedReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.starved = r.starved || err != nil
	return n, err
}

// maxRescan is the size from which an unfinished token is looked at again only
// when it has doubled, so that a long one takes linear time.
const maxRescan = 64 << 10

// feed takes the next bytes, in UTF-8, and gives the tokens that are complete;
// last says that nothing follows. A text is given as far as it has come.
func (s *htmlSplitter) feed(data []byte, last bool) []htmlToken {
	s.buf = append(s.buf, data...)
	if !last && len(s.buf) < s.retryAt {
		return nil
	}
	s.retryAt = 0
	var out []htmlToken
	r := &starvedReader{Reader: io.MultiReader(strings.NewReader(s.reopened()), bytes.NewReader(s.buf))}
	z := html.NewTokenizer(r)
	if s.rawText != "" {
		z.Next()
	}
	for {
		z.AllowCDATA(s.open.foreign())
		kind := z.Next()
		raw := z.Raw()
		if !last && r.starved {
			if kind == html.TextToken && s.rawText == "" {
				raw = raw[:wholeText(raw)]
				if len(raw) > 0 {
					out = append(out, s.token(kind, string(raw)))
					s.buf = s.buf[len(raw):]
				}
			} else if len(s.buf) > maxRescan {
				s.retryAt = 2 * len(s.buf)
			}
			return out
		}
		if kind == html.ErrorToken && len(raw) > 0 { // a tag that the document does not finish
			kind = html.TextToken
		}
		s.buf = s.buf[len(raw):]
		if s.inText && kind != html.TextToken {
			s.inText = false
			out = append(out, htmlToken{kind: html.TextToken, last: true, matches: around(s.open)})
		}
		if kind == html.ErrorToken {
			return out
		}
		t := s.token(kind, string(raw))
		out = append(out, t)
		if t.kind == html.StartTagToken && s.open.foreign() {
			z.NextIsNotRawText()
		}
	}
}

// wholeText is the length of a text up to what may be the start of a tag or an
// unfinished character. Of a CDATA section, which is one text, nothing is whole.
func wholeText(raw []byte) int {
	if bytes.HasPrefix(raw, []byte("<!")) {
		return 0
	}
	n := len(raw) - encoding.Unfinished(raw)
	if i := bytes.LastIndexByte(raw, '<'); i >= 0 && i >= n-2 {
		n = i
	}
	return n
}

// token makes the token and follows which elements are open.
func (s *htmlSplitter) token(kind html.TokenType, raw string) htmlToken {
	t := htmlToken{kind: kind, raw: raw}
	switch kind {
	case html.StartTagToken, html.SelfClosingTagToken:
		t.kind = html.StartTagToken
		s.startTag(&t)
	case html.EndTagToken:
		t.name, _, _ = parseTag(strings.Replace(raw, "/", "", 1))
		s.endTag(&t, mime.LowerASCII(t.name))
	case html.DoctypeToken:
		t.name, t.doctype = parseDoctype(raw)
	default:
		s.inText = kind == html.TextToken
		t.matches = around(s.open)
	}
	return t
}

func (s *htmlSplitter) startTag(t *htmlToken) {
	t.name, t.attrs, t.slash = parseTag(t.raw)
	s.started++
	t.id = s.started
	e := enter(s.open, *t)
	for i, list := range s.selectors {
		if matchesAny(list, e) {
			e.matches = append(e.matches, i)
		}
	}
	t.matches, t.space = e.matches, e.space
	t.alone = strings.Contains(voidElements, " "+e.name+" ")
	if e.space != spaceHTML {
		t.alone = t.slash
	}
	if t.alone {
		return
	}
	s.open = e
	if e.space == spaceHTML && strings.Contains(rawTextElements, " "+e.name+" ") {
		s.rawText = e.name
	}
}

func (s *htmlSplitter) endTag(t *htmlToken, name string) {
	s.rawText = ""
	if name == "p" || name == "br" {
		s.open.leaveForeign()
	}
	closed := s.open
	for closed.parent != nil && closed.name != name {
		closed = closed.parent
	}
	if closed.parent == nil {
		return
	}
	for ; s.open != closed.parent; s.open = s.open.parent {
		if len(s.open.matches) > 0 {
			t.closes = append(t.closes, s.open.id)
		}
	}
}

func enter(parent *openElement, t htmlToken) *openElement {
	e := &openElement{name: mime.LowerASCII(t.name), attrs: t.attrs, parent: parent, id: t.id}
	if e.breaksOut() {
		parent.leaveForeign()
	}
	e.space = spaceHTML
	if parent.foreign() && !parent.integrates() {
		e.space = parent.space
	}
	switch e.name {
	case "svg":
		e.space = spaceSVG
	case "math":
		e.space = spaceMath
	}
	if parent.types == nil {
		parent.types = map[string]int{}
	}
	parent.children++
	parent.types[e.name]++
	e.nth, e.nthType = parent.children, parent.types[e.name]
	return e
}

// foreign tells whether what stands directly in an element is parsed by the
// rules of foreign content, but for integration points.
func (e *openElement) foreign() bool { return e.space != spaceHTML && !e.left }

// breakouts are the elements before which foreign content ends (HTML, section
// 13.2.6.5).
const breakouts = " b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var "

func (e *openElement) breaksOut() bool {
	if e.name != "font" {
		return strings.Contains(breakouts, " "+e.name+" ")
	}
	return slices.ContainsFunc(e.attrs, func(a rawAttr) bool { return a.name == "color" || a.name == "face" || a.name == "size" })
}

// leaveForeign ends the foreign content that an element stands in, up to the
// next integration point. The elements stay open for selectors.
func (e *openElement) leaveForeign() {
	for ; e != nil && e.foreign() && !e.integrates(); e = e.parent {
		e.left = true
	}
}

// integrates tells the elements within which HTML goes on (HTML, section
// 13.2.6: integration points).
func (e *openElement) integrates() bool {
	switch e.space {
	case spaceSVG:
		return e.name == "foreignobject" || e.name == "desc" || e.name == "title"
	case spaceMath:
		encoding, _ := e.attr("encoding")
		encoding = mime.LowerASCII(encoding)
		return strings.Contains(" mi mo mn ms mtext ", " "+e.name+" ") ||
			e.name == "annotation-xml" && (encoding == "text/html" || encoding == "application/xhtml+xml")
	}
	return false
}

// around lists the selectors that an element or one around it matches.
func around(e *openElement) []int {
	var all []int
	for ; e != nil; e = e.parent {
		all = append(all, e.matches...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// parseTag reads the name and the attributes of a start tag (HTML, section
// 13.2.5.32 on). Of attributes with one name the first counts, and all are kept,
// as in the reference. slash reports whether the tag closes itself.
func parseTag(raw string) (name string, attrs []rawAttr, slash bool) {
	const space = " \t\r\n\f"
	s := strings.TrimSuffix(strings.TrimPrefix(raw, "<"), ">")
	i := strings.IndexAny(s, space+"/")
	if i < 0 {
		return s, nil, false
	}
	name, s = s[:i], s[i:]
	for {
		gap := s
		s = strings.TrimLeft(s, space+"/")
		if s == "" {
			return name, attrs, strings.HasSuffix(gap, "/")
		}
		end := strings.IndexAny(s[1:], space+"/=") + 1
		if end == 0 {
			end = len(s)
		}
		a := rawAttr{name: mime.LowerASCII(s[:end])}
		rest := s[end:]
		if after, ok := strings.CutPrefix(strings.TrimLeft(rest, space), "="); ok {
			a.value, rest = attrValue(strings.TrimLeft(after, space))
		}
		a.raw = s[:len(s)-len(rest)]
		s = rest
		attrs = append(attrs, a)
	}
}

func attrValue(s string) (value, rest string) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		value, rest, _ = strings.Cut(s[1:], s[:1])
		return value, rest
	}
	if i := strings.IndexAny(s, " \t\r\n\f"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// parseDoctype reads the name, the public and the system identifier; nil is for
// one that is missing.
func parseDoctype(raw string) (name string, ids [2]*string) {
	s := strings.TrimSuffix(raw, ">")
	s = strings.TrimSpace(s[min(len(s), len("<!doctype")):])
	name, rest, _ := strings.Cut(s, " ")
	rest = strings.TrimSpace(rest)
	at := 0
	switch keyword := strings.ToLower(rest[:min(6, len(rest))]); keyword {
	case "public":
	case "system":
		at = 1
	default:
		return mime.LowerASCII(name), ids
	}
	for rest = strings.TrimSpace(rest[6:]); at < 2 && rest != "" && (rest[0] == '"' || rest[0] == '\''); at++ {
		var id string
		id, rest, _ = strings.Cut(rest[1:], rest[:1])
		ids[at], rest = &id, strings.TrimSpace(rest)
	}
	return mime.LowerASCII(name), ids
}

// commentText is what a comment says, also one that is written as markup.
func commentText(raw string) string {
	if text, ok := strings.CutPrefix(raw, "<!--"); ok {
		switch text {
		case ">", "->":
			return ""
		}
		if text, ok := strings.CutSuffix(text, "--!>"); ok {
			return text
		}
		if text, ok := strings.CutSuffix(text, ">"); ok {
			return strings.TrimSuffix(text, "--")
		}
		return strings.TrimSuffix(strings.TrimSuffix(text, "-"), "-") // the document ends in it
	}
	raw = strings.TrimPrefix(raw, "<")
	for _, mark := range []string{"!", "/"} {
		if text, ok := strings.CutPrefix(raw, mark); ok {
			raw = text
			break
		}
	}
	return strings.TrimSuffix(raw, ">")
}
