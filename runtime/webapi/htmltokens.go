package webapi

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// htmlToken is a piece of a document as it is written, and what of the
// rewriter's selectors concerns it. Immutable.
type htmlToken struct {
	kind    html.TokenType
	raw     string
	name    string // of a tag, as written; of a doctype
	attrs   []rawAttr
	matches []int // the selectors that a start tag matches, or within which a text or comment stands
	opener  int   // of an end tag: the token that it closes, -1 if none is open
	alone   bool  // a start tag that no end tag can close
	doctype [2]string
}

// voidElements have no end tag (HTML, section 13.1.2).
const voidElements = " area base br col embed hr img input link meta param source track wbr "

// htmlTokens splits a document and matches every element against selectors, on
// the document as it came: what handlers change is not seen.
func htmlTokens(doc []byte, selectors [][]*selector) []htmlToken {
	z := html.NewTokenizer(bytes.NewReader(doc))
	var out []htmlToken
	root := &openElement{}
	open := root
	foreign := 0 // how many svg and math elements are open: there "/>" closes
	for {
		kind := z.Next()
		t := htmlToken{kind: kind, raw: string(z.Raw()), opener: -1}
		if kind == html.ErrorToken {
			if t.raw != "" { // a tag that the document does not finish
				t.kind, t.matches = html.TextToken, around(open)
				out = append(out, t)
			}
			return out
		}
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			t.kind = html.StartTagToken
			t.name, t.attrs = parseTag(t.raw)
			e := enter(open, t, len(out))
			for i, list := range selectors {
				if matchesAny(list, e) {
					e.matches = append(e.matches, i)
				}
			}
			t.matches = e.matches
			t.alone = strings.Contains(voidElements, " "+e.name+" ") || foreign > 0 && kind == html.SelfClosingTagToken
			if !t.alone {
				open = e
				if e.name == "svg" || e.name == "math" {
					foreign++
				}
			}
		case html.EndTagToken:
			t.name, _ = parseTag(strings.Replace(t.raw, "/", "", 1))
			name := lowerASCII(t.name)
			for e := open; e != root; e = e.parent {
				if e.name != name {
					continue
				}
				t.opener = e.token
				for ; open != e.parent; open = open.parent {
					if open.name == "svg" || open.name == "math" {
						foreign--
					}
				}
				break
			}
		case html.DoctypeToken:
			t.name, t.doctype = parseDoctype(t.raw)
		default:
			t.matches = around(open)
		}
		out = append(out, t)
	}
}

func enter(parent *openElement, t htmlToken, index int) *openElement {
	e := &openElement{name: lowerASCII(t.name), attrs: t.attrs, parent: parent, token: index}
	if parent.types == nil {
		parent.types = map[string]int{}
	}
	parent.children++
	parent.types[e.name]++
	e.nth, e.nthType = parent.children, parent.types[e.name]
	return e
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
// 13.2.5.32 on). Of attributes with one name the first counts.
func parseTag(raw string) (name string, attrs []rawAttr) {
	const space = " \t\r\n\f"
	s := strings.TrimSuffix(strings.TrimPrefix(raw, "<"), ">")
	i := strings.IndexAny(s, space+"/")
	if i < 0 {
		return s, nil
	}
	name, s = s[:i], s[i:]
	for {
		s = strings.TrimLeft(s, space+"/")
		if s == "" {
			return name, attrs
		}
		end := strings.IndexAny(s[1:], space+"/=") + 1
		if end == 0 {
			end = len(s)
		}
		a := rawAttr{name: lowerASCII(s[:end])}
		rest := s[end:]
		if after, ok := strings.CutPrefix(strings.TrimLeft(rest, space), "="); ok {
			a.value, rest = attrValue(strings.TrimLeft(after, space))
		}
		a.raw = s[:len(s)-len(rest)]
		s = rest
		if !slices.ContainsFunc(attrs, func(b rawAttr) bool { return b.name == a.name }) {
			attrs = append(attrs, a)
		}
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

// parseDoctype reads the name, the public and the system identifier.
func parseDoctype(raw string) (name string, ids [2]string) {
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
		return lowerASCII(name), ids
	}
	for rest = strings.TrimSpace(rest[6:]); at < 2 && rest != "" && (rest[0] == '"' || rest[0] == '\''); at++ {
		ids[at], rest, _ = strings.Cut(rest[1:], rest[:1])
		rest = strings.TrimSpace(rest)
	}
	return lowerASCII(name), ids
}
