package form

import (
	"encoding/hex"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/webapi/blob"
	"minido.dev/minido/runtime/webapi/url"
)

// Body is the content of a Blob, FormData or URLSearchParams, and its
// type.
func (p *Forms) Body(v *goja.Object) (data []byte, contentType string, ok bool) {
	switch x := p.Engine.Attached(v).(type) {
	case *url.SearchParams:
		return []byte(x.Encoded()), "application/x-www-form-urlencoded;charset=UTF-8", true
	case blob.Holder:
		return x.TheBlob().Data, x.TheBlob().Type, true
	case *formData:
		var random [16]byte
		p.Engine.Entropy().Read(random[:])
		boundary := hex.EncodeToString(random[:])
		p.Engine.Memory.Allocate(p.size(x), "Array buffer allocation failed")
		data, err := writeMultipart(p.formParts(x), boundary)
		if err != nil {
			p.Engine.Throw("TypeError", "%s", err)
		}
		return data, "multipart/form-data; boundary=" + boundary, true
	}
	return nil, "", false
}

// ParseBody makes the FormData of a body.
func (p *Forms) ParseBody(data []byte, contentType string) goja.Value {
	parts, err := parseFormBody(data, contentType)
	if err != nil {
		p.Engine.Throw("TypeError", "%s", err)
	}
	return p.newForm(parts, p.Enabled(compat.FormdataParserSupportsFiles))
}
