package config

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// parseTOML parses a wrangler.toml. go-toml's decoder checks the document
// (syntax and duplicate definitions); its expression parser, which knows
// offsets but no tables, then gives the tree. On an error it reports it and
// returns nil.
func parseTOML(src *source, rep *report) *node {
	text := src.text
	if strings.HasPrefix(string(text), utf8BOM) {
		text = append([]byte("   "), text[len(utf8BOM):]...)
	}
	var discard map[string]any
	if err := toml.Unmarshal(text, &discard); err != nil {
		rep.add(tomlSyntaxError(src, err))
		return nil
	}
	b := tomlBuilder{src: src, rep: rep, root: &node{kind: kindObject, src: src, keyAt: -1}}
	b.parser.Reset(text)
	table := b.root
	for b.parser.NextExpression() {
		switch e := b.parser.Expression(); e.Kind {
		case unstable.Table:
			table = b.descend(b.root, e.Key(), false)
		case unstable.ArrayTable:
			table = b.descend(b.root, e.Key(), true)
		case unstable.KeyValue:
			b.keyValue(table, e)
		}
	}
	if err := b.parser.Error(); err != nil {
		rep.add(tomlSyntaxError(src, err))
		return nil
	}
	return b.root
}

// tomlSyntaxError turns go-toml's error into a Diagnostic.
func tomlSyntaxError(src *source, err error) Diagnostic {
	message := "this is not valid TOML: " + strings.TrimPrefix(err.Error(), "toml: ")
	var decode *toml.DecodeError
	if !errors.As(err, &decode) {
		return src.problem(0, message, "")
	}
	return src.problem(src.offset(decode.Position()), message, "")
}

// tomlBuilder builds the tree of one document. Used by one parseTOML only.
type tomlBuilder struct {
	parser unstable.Parser
	src    *source
	rep    *report
	root   *node
}

// tomlKey is one part of a dotted key.
type tomlKey struct {
	name   string
	offset int
}

func tomlKeys(it unstable.Iterator) []tomlKey {
	var keys []tomlKey
	for it.Next() {
		k := it.Node()
		keys = append(keys, tomlKey{name: string(k.Data), offset: int(k.Raw.Offset)})
	}
	return keys
}

// descend walks a table header from the root, creating what is missing, and
// returns the table that the following keys belong to. Arrays of tables stand
// for their last element.
func (b *tomlBuilder) descend(from *node, it unstable.Iterator, array bool) *node {
	keys := tomlKeys(it)
	at := from
	for i, k := range keys {
		last := i == len(keys)-1
		next := at.get(k.name)
		if next == nil {
			next = &node{kind: kindObject, src: b.src, key: k.name, keyAt: k.offset, offset: k.offset}
			if last && array {
				next.kind = kindArray
			}
			at.members = append(at.members, next)
		}
		if next.kind == kindArray {
			if last && array {
				next.items = append(next.items, &node{kind: kindObject, src: b.src, keyAt: -1, offset: k.offset})
			}
			if len(next.items) == 0 {
				return next
			}
			next = next.items[len(next.items)-1]
		}
		at = next
	}
	return at
}

// keyValue adds "a.b = value" to a table.
func (b *tomlBuilder) keyValue(table *node, e *unstable.Node) {
	keys := tomlKeys(e.Key())
	for _, k := range keys[:len(keys)-1] {
		next := table.get(k.name)
		if next == nil {
			next = &node{kind: kindObject, src: b.src, key: k.name, keyAt: k.offset, offset: k.offset}
			table.members = append(table.members, next)
		}
		table = next
	}
	leaf := keys[len(keys)-1]
	value := b.value(e.Value(), leaf.offset)
	value.key, value.keyAt = leaf.name, leaf.offset
	table.put(b.rep, value)
}

// value converts one value. Arrays and tables have no range of their own in
// go-toml's tree; fallback stands in for it.
func (b *tomlBuilder) value(v *unstable.Node, fallback int) *node {
	n := &node{src: b.src, keyAt: -1, offset: fallback}
	if v.Raw.Length > 0 {
		n.offset = int(v.Raw.Offset)
	}
	switch v.Kind {
	case unstable.String:
		n.kind, n.text = kindString, toValidUTF8(string(v.Data))
	case unstable.Bool:
		n.kind, n.truth = kindBool, string(v.Data) == "true"
	case unstable.Integer:
		n.kind, n.text = kindNumber, b.integer(n, string(v.Data))
	case unstable.Float:
		n.kind, n.text = kindNumber, b.float(n, string(v.Data))
	case unstable.Array:
		n.kind = kindArray
		for it := v.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				n.items = append(n.items, b.value(it.Node(), fallback))
			}
		}
	case unstable.InlineTable:
		n.kind = kindObject
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				b.keyValue(n, it.Node())
			}
		}
	default:
		n.kind, n.text = kindDate, string(v.Data)
	}
	return n
}

// integer turns TOML's forms (1_000, 0x1F, +5) into a JSON number.
func (b *tomlBuilder) integer(n *node, text string) string {
	i, err := strconv.ParseInt(strings.TrimPrefix(text, "+"), 0, 64)
	if err != nil {
		b.rep.errorAt(n, "", "the number %s does not fit in 64 bits", text)
		return "0"
	}
	return strconv.FormatInt(i, 10)
}

// float turns TOML's forms into a JSON number; JSON has no infinity.
func (b *tomlBuilder) float(n *node, text string) string {
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		b.rep.errorAt(n, "write it as a string", "the number %s has no JSON form", text)
		return "0"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
