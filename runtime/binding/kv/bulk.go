package kv

import (
	"bytes"

	"github.com/dop251/goja"
)

// maxBulkBytes bounds what a bulk get gives.
const maxBulkBytes = 25 << 20

// getBulk gets several values, as a Map. What is no JSON fails as a whole.
func (p *api) getBulk(keys []string, o getOptions) goja.Value {
	return p.start("GET_BULK", func(n backend) (func() goja.Value, error) {
		if err := checkBulk(keys, o); err != nil {
			return nil, err
		}
		values, err := n.GetAll(keys)
		if err != nil {
			return nil, err
		}
		size := 0
		for _, v := range values {
			if v != nil {
				size += len(v.Data)
			}
		}
		if size > maxBulkBytes {
			return nil, refusal(413, "Total size of request exceeds the limit of %dMB", maxBulkBytes>>20)
		}
		return func() goja.Value { return p.bulk(keys, values, o) }, nil
	})
}

func checkBulk(keys []string, o getOptions) error {
	switch {
	case o.kind != "" && o.kind != "text" && o.kind != "json":
		return refusal(400, "\"%s\" is not a valid type. Use \"json\" or \"text\"", o.kind)
	case len(keys) > maxBulkKeys:
		return refusal(400, "You can request a maximum of %d keys", maxBulkKeys)
	case len(keys) < 1:
		return refusal(400, "You must request a minimum of 1 key")
	}
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return err
		}
		if err := checkCacheTTL(o.cacheTTL); err != nil {
			return err
		}
	}
	return nil
}

// bulk makes the Map. As with workerd and miniflare, which pass it as the members
// of an object, it lacks keys that are array indexes, and "__proto__".
func (p *api) bulk(keys []string, values []*Value, o getOptions) goja.Value {
	found := p.Platform.Construct("Map")
	set := p.Engine.Primordial("MapPrototypeSet")
	for i, v := range values {
		if isIndex(keys[i]) || keys[i] == "__proto__" {
			continue
		}
		p.Engine.Call(set, goja.Undefined(), found, p.Engine.String(keys[i]), p.bulkValue(v, o))
	}
	return found
}

// byteOrderMark is dropped by the TextDecoder that miniflare reads bulk values with.
var byteOrderMark = []byte("\xef\xbb\xbf")

func (p *api) bulkValue(v *Value, o getOptions) goja.Value {
	if v == nil {
		return goja.Null()
	}
	value, metadata := goja.Null(), goja.Null()
	if ex := p.Engine.VM().Try(func() { value = p.valueAs(bytes.TrimPrefix(v.Data, byteOrderMark), o.kind) }); ex != nil {
		p.fail("GET_BULK", refusal(400, "At least one of the requested keys corresponds to a non-%s value", o.kind))
	}
	if goja.IsNull(value) || !o.metadata {
		return value
	}
	if v.Metadata != "" {
		metadata = p.ParseJSON(v.Metadata)
	}
	return p.Platform.Record("value", value, "metadata", metadata)
}

// isIndex reports whether a key is an array index: of 0 to 2^32-2, as it is
// written canonically.
func isIndex(key string) bool {
	if key == "" || len(key) > 10 || key[0] == '0' && key != "0" {
		return false
	}
	n := 0
	for _, c := range []byte(key) {
		if c < '0' || c > '9' {
			return false
		}
		n = n*10 + int(c-'0')
	}
	return n < 1<<32-1
}
