package clone

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
)

// EncodeFromGo writes a Go value as DecodeToGo reads it: nil, [Undefined], bool, float64,
// string, [*GoObject], dense [*GoArray] and [*GoDate]; an error names any other type. Safe
// for concurrent use.
func EncodeFromGo(v any) ([]byte, error) {
	w := &Writer{buf: appendVarint([]byte{tagVersion}, latestVersion)}
	err := w.writeGo(v)
	return w.buf, err
}

func (w *Writer) writeGo(v any) error {
	switch v := v.(type) {
	case nil:
		w.buf = append(w.buf, tagNull)
	case Undefined:
		w.buf = append(w.buf, tagUndefined)
	case bool:
		tag := byte(tagFalse)
		if v {
			tag = tagTrue
		}
		w.buf = append(w.buf, tag)
	case float64:
		w.buf = appendFloat(w.buf, v)
	case string:
		w.writeGoString(v)
	case *GoDate:
		w.buf = appendDouble(append(w.buf, tagDate), v.Milliseconds)
	case *GoObject:
		w.buf = append(w.buf, tagBeginObject)
		for _, p := range v.Properties {
			w.writeGoString(p.Key)
			if err := w.writeGo(p.Value); err != nil {
				return err
			}
		}
		w.buf = appendVarint(append(w.buf, tagEndObject), uint64(len(v.Properties)))
	case *GoArray:
		w.buf = appendVarint(append(w.buf, tagBeginDenseArray), uint64(len(v.Items)))
		for _, item := range v.Items {
			if err := w.writeGo(item); err != nil {
				return err
			}
		}
		w.buf = appendVarint(append(w.buf, tagEndDenseArray, 0), uint64(len(v.Items)))
	default:
		return fmt.Errorf("clone: a %T cannot be written", v)
	}
	return nil
}

func (w *Writer) writeGoString(s string) {
	if isASCII(s) {
		w.writeASCII(s)
		return
	}
	w.writeUnits(utf16.Encode([]rune(s)))
}

// GoFromJSON is the value of a JSON text for EncodeFromGo; objects keep the order of
// their properties. Safe for concurrent use.
func GoFromJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	v, err := goFromJSON(d)
	if err != nil {
		return nil, fmt.Errorf("clone: %w", err)
	}
	return v, nil
}

func goFromJSON(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		a := &GoArray{}
		for d.More() {
			item, err := goFromJSON(d)
			if err != nil {
				return nil, err
			}
			a.Items = append(a.Items, item)
		}
		a.Length = uint32(len(a.Items))
		_, err := d.Token()
		return a, err
	case json.Delim('{'):
		o := &GoObject{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := goFromJSON(d)
			if err != nil {
				return nil, err
			}
			o.Properties = append(o.Properties, GoProperty{key.(string), value})
		}
		_, err := d.Token()
		return o, err
	}
	return token, nil
}
