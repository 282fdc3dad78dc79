package config

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"minido.dev/minido/internal/lazyregexp"
)

// utf8BOM may open a file written by a Windows editor; it is not content.
const utf8BOM = "\xef\xbb\xbf"

// maxDepth bounds the nesting of a configuration file. wrangler's schema needs
// seven levels; the rest is for JSON values of vars.
const maxDepth = 200

// hujsonError takes apart hujson's "hujson: line L, column C: what".
var hujsonError = lazyregexp.New(`^hujson: line (\d+), column (\d+): (?s:(.*))$`)

// parseJSONC parses JSON with comments and trailing commas, as wrangler's
// jsonc-parser does for both wrangler.json and wrangler.jsonc. On a syntax
// error it reports it and returns nil.
func parseJSONC(src *source, rep *report) *node {
	text := src.text
	if strings.HasPrefix(string(text), utf8BOM) {
		// Blanked rather than cut off: offsets stay true.
		text = append([]byte("   "), text[len(utf8BOM):]...)
	}
	if at, deep := tooDeep(text); deep {
		rep.add(src.problem(at, "this is nested deeper than "+strconv.Itoa(maxDepth)+" levels", ""))
		return nil
	}
	parsed, err := hujson.Parse(text)
	if err != nil {
		rep.add(jsonSyntaxError(src, err))
		return nil
	}
	return jsonNode(src, rep, &parsed)
}

// tooDeep finds the first bracket nested deeper than maxDepth: the parser is
// recursive. Strings and comments are skipped.
func tooDeep(text []byte) (int, bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			i = skipString(text, i)
		case '/':
			i = skipComment(text, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return i, true
			}
		case '}', ']':
			depth--
		}
	}
	return 0, false
}

// skipString returns the offset of the quote that closes the string begun at i.
func skipString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// skipComment returns the offset of the last byte of a comment that begins at
// i, or i if none does.
func skipComment(text []byte, i int) int {
	end, extra := "", 0
	switch {
	case strings.HasPrefix(string(text[i:min(i+2, len(text))]), "//"):
		end = "\n"
	case strings.HasPrefix(string(text[i:min(i+2, len(text))]), "/*"):
		end, extra = "*/", 1
		i += 2
	default:
		return i
	}
	n := bytes.Index(text[min(i, len(text)):], []byte(end))
	if n < 0 {
		return len(text)
	}
	return i + n + extra
}

// problem makes an error that points at a byte offset of the source.
func (s *source) problem(offset int, message, hint string) Diagnostic {
	p := s.position(offset)
	return Diagnostic{
		File: p.File, Line: p.Line, Column: p.Column,
		Severity: SeverityError, Message: message, Hint: hint, src: s,
	}
}

// jsonSyntaxError turns hujson's error into a Diagnostic. hujson counts
// columns in bytes; ours count code points.
func jsonSyntaxError(src *source, err error) Diagnostic {
	m := hujsonError.FindStringSubmatch(err.Error())
	if m == nil {
		return src.problem(0, "this is not valid JSON: "+err.Error(), "")
	}
	line, _ := strconv.Atoi(m[1]) // the pattern admits digits only
	column, _ := strconv.Atoi(m[2])
	offset := src.offset(line, column)
	what := strings.ReplaceAll(m[3], "unexpected EOF", "the file ends here")
	return src.problem(offset, "this is not valid JSON: "+what, jsonHint(src.text, offset))
}

// jsonHint guesses the cause of a syntax error from the character it is at.
func jsonHint(text []byte, offset int) string {
	if offset >= len(text) {
		return "a closing bracket or quote is missing"
	}
	switch c := text[offset]; {
	case c == '\'':
		return "strings take double quotes"
	case c == '"':
		return "a comma is missing before this"
	case c == '_' || c == '$' || (c|0x20 >= 'a' && c|0x20 <= 'z'):
		return "keys and strings take double quotes"
	}
	return ""
}

// jsonNode converts hujson's tree.
func jsonNode(src *source, rep *report, v *hujson.Value) *node {
	n := &node{src: src, offset: v.StartOffset, keyAt: -1}
	switch t := v.Value.(type) {
	case *hujson.Object:
		n.kind = kindObject
		for i := range t.Members {
			name := t.Members[i].Name.Value.(hujson.Literal).String()
			member := jsonNode(src, rep, &t.Members[i].Value)
			member.key, member.keyAt = name, t.Members[i].Name.StartOffset
			n.put(rep, member)
		}
	case *hujson.Array:
		n.kind = kindArray
		for i := range t.Elements {
			n.items = append(n.items, jsonNode(src, rep, &t.Elements[i]))
		}
	case hujson.Literal:
		jsonLiteral(n, t)
	}
	return n
}

func jsonLiteral(n *node, lit hujson.Literal) {
	switch lit.Kind() {
	case 't', 'f':
		n.kind, n.truth = kindBool, lit.Bool()
	case '"':
		n.kind, n.text = kindString, toValidUTF8(lit.String())
	case '0':
		n.kind, n.text = kindNumber, string(lit)
		if !json.Valid(lit) {
			n.text = strconv.FormatFloat(lit.Float(), 'g', -1, 64)
		}
	default:
		n.kind = kindNull
	}
}

// toValidUTF8 makes sure that a value can go into JSON and the log as it is.
func toValidUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "�")
}

// put adds a member to an object. The last one of two equal keys wins, as in
// JavaScript; the loser is worth a warning, because it is never wanted.
func (n *node) put(rep *report, member *node) {
	for i, old := range n.members {
		if old.key == member.key {
			rep.warnAt(member, "remove one of the two; the last one counts",
				"the key %q is here twice (first at line %d)", member.key, old.where().Line)
			n.members[i] = member
			return
		}
	}
	n.members = append(n.members, member)
}
