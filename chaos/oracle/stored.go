package oracle

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"unicode/utf8"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/runtime/clone"
)

// valueColumn is the column of an entry that is no object: its value.
const valueColumn = "value"

// within is how deep the members of what is stored are columns of their own; storedDepth
// is where flatten begins with them.
const (
	within      = 20
	storedDepth = maxDepth - within
)

// entries collects the entries of a KV store by their keys without what varies: members of
// objects are columns, so that each is masked for itself.
type entries map[string]*told

// add takes one entry; beside is what stands beside its value, by column.
func (e entries) add(key string, value any, beside map[string]string) {
	row := map[string]string{}
	flatten("", value, row, storedDepth)
	if only, is := row[unnamed]; is && len(row) == 1 {
		row = map[string]string{valueColumn: only}
	}
	for column, cell := range beside { // order-independent: each has a column of its own
		row[column] = cell
	}
	key = normal(key)
	if e[key] == nil {
		e[key] = &told{}
	}
	e[key].rows = append(e[key].rows, row)
}

// put makes each entry a table of its own.
func (s State) putEntries(at place, e entries) {
	for key, t := range e { // order-independent: each has a place of its own
		s.put(at, kvPrefix+key, t.table())
	}
}

// serialized is a value that ctx.storage.put has stored, as flatten takes it: what V8's
// format holds, or where that has something unknown the bytes as text.
func serialized(raw any) any {
	b, is := raw.([]byte)
	if !is {
		return text(raw)
	}
	v, err := clone.DecodeToGo(b)
	if err != nil {
		return text(b)
	}
	return plain(v, 0)
}

// plain makes a decoded value one of JSON. Values that refer to themselves end at within.
func plain(v any, depth int) any {
	if depth > within {
		return "…"
	}
	members := func(into map[string]any, properties []clone.GoProperty) map[string]any {
		for _, p := range properties {
			if _, absent := p.Value.(clone.Undefined); !absent {
				into[p.Key] = plain(p.Value, depth+1)
			}
		}
		return into
	}
	list := func(items []any) []any {
		out := []any{}
		for _, item := range items {
			out = append(out, plain(item, depth+1))
		}
		return out
	}
	switch v := v.(type) {
	case string:
		return inText(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case *big.Int:
		return v.String()
	case *clone.GoObject:
		return members(map[string]any{}, v.Properties)
	case *clone.GoArray:
		if len(v.Properties) > 0 {
			return members(map[string]any{"": list(v.Items)}, v.Properties)
		}
		return list(v.Items)
	case *clone.GoMap:
		out := map[string]any{}
		for _, entry := range v.Entries {
			out[fmt.Sprint(plain(entry[0], depth+1))] = plain(entry[1], depth+1)
		}
		return out
	case *clone.GoSet:
		return list(v.Items)
	case *clone.GoDate:
		return "a date"
	case *clone.GoBoxed:
		return plain(v.Value, depth+1)
	case *clone.GoBuffer:
		return text(v.Bytes)
	case *clone.GoView:
		return text(v.Buffer.Bytes[v.Offset : v.Offset+v.Length])
	case *clone.GoRegExp:
		return "/" + v.Source + "/" + v.Flags
	case *clone.GoError:
		return members(map[string]any{"name": v.Name, "message": plain(v.Message, depth+1)}, v.Properties)
	case clone.Undefined:
		return "undefined"
	case clone.Hole:
		return nil
	}
	return v
}

// inText is what a text holds: the object or list, if it is one of JSON, else the text.
func inText(s string) any {
	if len(s) == 0 || s[0] != '{' && s[0] != '[' || !json.Valid([]byte(s)) {
		return s
	}
	return exact(parsed(s))
}

// ofBytes is what bytes hold: a text, or what people can read of them.
func ofBytes(b []byte) any {
	if utf8.Valid(b) {
		return inText(string(b))
	}
	return printable(b)
}

// exact is a value of JSON whose numbers are texts: of what is stored they count to the last digit.
func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case map[string]any:
		for key, member := range v { // order-independent: each is replaced for itself
			v[key] = exact(member)
		}
	case []any:
		for i, element := range v {
			v[i] = exact(element)
		}
	}
	return v
}

// expand is a row of SQL as cells: of a text that is an object of JSON each member is a
// column.
func expand(r evidence.Row) map[string]string {
	out := map[string]string{}
	for column, v := range r { // order-independent: a column each
		object, is := v.(string)
		members, isObject := inText(object).(map[string]any)
		if !is || !isObject || len(members) == 0 {
			out[column] = text(v)
			continue
		}
		flatten(column, members, out, storedDepth)
	}
	return out
}
