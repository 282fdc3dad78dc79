package config

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// kind is the type of a node.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
	kindDate // a TOML date or time, which JSON has not
)

// describe names a kind in a sentence: "is an object".
func (k kind) describe() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object", "a TOML date"}[k]
}

// node is one value of a configuration file, with the place where it stands.
// Both file formats parse into it. Immutable after parsing; a nil *node means
// "not there", and every method accepts it.
type node struct {
	kind    kind
	src     *source
	offset  int    // bytes into src.text where the value begins
	key     string // the name under which an object holds this value
	keyAt   int    // byte offset of that name, -1 for array elements and the root
	text    string // string: the value; number: its JSON form; date: as written
	truth   bool
	members []*node // object: in file order, later duplicates replaced earlier ones
	items   []*node // array
}

// get returns the member called name, or nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.key == name {
			return m
		}
	}
	return nil
}

// merge adds the members of other, which keep their places in their own text.
func (n *node) merge(other *node) {
	for _, m := range other.members {
		own := n.get(m.key)
		switch {
		case own == nil:
			n.members = append(n.members, m)
		case own.kind == kindObject && m.kind == kindObject:
			own.merge(m)
		case own.kind == kindArray && m.kind == kindArray:
			own.items = append(own.items, m.items...)
		default:
			*own = *m
		}
	}
}

// str returns the value of a string node, "" for anything else.
func (n *node) str() string {
	if n == nil || n.kind != kindString {
		return ""
	}
	return n.text
}

// boolean returns the value of a boolean node, fallback for anything else.
func (n *node) boolean(fallback bool) bool {
	if n == nil || n.kind != kindBool {
		return fallback
	}
	return n.truth
}

// number returns the value of a number node, fallback for anything else.
func (n *node) number(fallback float64) float64 {
	if n == nil || n.kind != kindNumber {
		return fallback
	}
	var f float64
	if json.Unmarshal([]byte(n.text), &f) != nil {
		return fallback
	}
	return f
}

// elements returns the items of an array node.
func (n *node) elements() []*node {
	if n == nil || n.kind != kindArray {
		return nil
	}
	return n.items
}

// entries returns the members of an object node.
func (n *node) entries() []*node {
	if n == nil || n.kind != kindObject {
		return nil
	}
	return n.members
}

// texts returns the string items of an array node, or the one value of a
// string node.
func (n *node) texts() []string {
	if n != nil && n.kind == kindString {
		return []string{n.text}
	}
	var out []string
	for _, item := range n.elements() {
		if item.kind == kindString {
			out = append(out, item.text)
		}
	}
	return out
}

// where is the position a user looks for: the key that holds the value, or the
// value itself where it has none.
func (n *node) where() Position {
	if n == nil || n.src == nil {
		return Position{}
	}
	at := n.offset
	if n.keyAt >= 0 {
		at = n.keyAt
	}
	return n.src.position(at)
}

// diagnostic makes a Diagnostic that points at n.
func (n *node) diagnostic(severity Severity, message, hint string) Diagnostic {
	p := n.where()
	d := Diagnostic{File: p.File, Line: p.Line, Column: p.Column, Severity: severity, Message: message, Hint: hint}
	if n != nil {
		d.src = n.src
	}
	return d
}

// json renders the value as compact JSON, members in file order.
func (n *node) json() json.RawMessage {
	var b bytes.Buffer
	n.writeJSON(&b)
	return b.Bytes()
}

func (n *node) writeJSON(b *bytes.Buffer) {
	switch n.kind {
	case kindNull:
		b.WriteString("null")
	case kindBool:
		if n.truth {
			b.WriteString("true")
		} else {
			b.WriteString("false")
		}
	case kindNumber:
		b.WriteString(n.text)
	case kindString, kindDate:
		writeJSONString(b, n.text)
	case kindArray:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.writeJSON(b)
		}
		b.WriteByte(']')
	case kindObject:
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSONString(b, m.key)
			b.WriteByte(':')
			m.writeJSON(b)
		}
		b.WriteByte('}')
	}
}

// writeJSONString writes s as a JSON string without escaping <, > and &.
func writeJSONString(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("config: a string does not encode as JSON: " + err.Error())
	}
	b.Truncate(b.Len() - 1) // Encode adds a newline
}

// value renders the node as plain Go values: nil, bool, float64, string,
// []any, map[string]any.
func (n *node) value() any {
	switch n.kind {
	case kindBool:
		return n.truth
	case kindNumber:
		return n.number(0)
	case kindString, kindDate:
		return n.text
	case kindArray:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.value()
		}
		return out
	case kindObject:
		out := make(map[string]any, len(n.members))
		for _, m := range n.members {
			out[m.key] = m.value()
		}
		return out
	}
	return nil
}

// brief renders the value for an error message, shortened.
func (n *node) brief() string {
	switch n.kind {
	case kindArray, kindObject, kindDate:
		return n.kind.describe()
	}
	text := string(n.json())
	if utf8.RuneCountInString(text) > 60 {
		text = string([]rune(text)[:57]) + `..."`
	}
	return strings.ReplaceAll(text, "\n", " ")
}
