package webapi

import (
	"encoding/hex"

	"github.com/dop251/goja"
)

// isA tells instances of one of the platform's classes.
func (p *Platform) isA(v goja.Value, class string) bool {
	ctor, defined := p.vm.GlobalObject().Get(class).(*goja.Object)
	_, ok := v.(*goja.Object)
	return ok && defined && p.vm.InstanceOf(v, ctor)
}

// platformBody is the content of a Blob, FormData or URLSearchParams, and its
// type.
func (p *Platform) platformBody(v *goja.Object) (data []byte, contentType string, ok bool) {
	if params, ok := p.Engine.Attached(v).(*searchParams); ok {
		return []byte(serializeQuery(params.list)), "application/x-www-form-urlencoded;charset=UTF-8", true
	}
	switch {
	case p.isA(v, "Blob"):
		return p.blobBytes(v), v.Get("type").String(), true
	case p.isA(v, "FormData"):
		var random [16]byte
		p.Engine.Entropy().Read(random[:])
		boundary := hex.EncodeToString(random[:])
		return writeMultipart(p.formParts(v), boundary), "multipart/form-data; boundary=" + boundary, true
	}
	return nil, "", false
}

// blobBytes is a Blob's content: it is in memory, so that its promise is
// fulfilled at once.
func (p *Platform) blobBytes(blob *goja.Object) []byte {
	promise := promiseOf(p.invoke(blob, "arrayBuffer"))
	if promise == nil || promise.State() != goja.PromiseStateFulfilled {
		p.Engine.Throw("TypeError", "The Blob's content is not in memory.")
	}
	data, _ := p.bytesOf(promise.Result())
	return data
}

func (p *Platform) formParts(form *goja.Object) []formPart {
	var parts []formPart
	p.vm.ForOf(form, func(entry goja.Value) bool {
		pair := entry.(*goja.Object)
		part := formPart{name: pair.Get("0").String()}
		value := pair.Get("1")
		if p.isA(value, "Blob") {
			blob := value.(*goja.Object)
			part.isFile, part.data, part.contentType = true, p.blobBytes(blob), blob.Get("type").String()
			part.filename = part.name
			if name := present(blob, "name"); name != nil {
				part.filename = name.String()
			}
		} else {
			part.data = []byte(value.String())
		}
		parts = append(parts, part)
		return true
	})
	return parts
}

// parseFormData makes the FormData of a body.
func (p *Platform) parseFormData(data []byte, contentType string) goja.Value {
	parts, err := parseFormBody(data, contentType)
	if err != nil {
		p.Engine.Throw("TypeError", "%s", err)
	}
	form, files := p.construct("FormData"), p.compat("formdata_parser_supports_files")
	for _, part := range parts {
		value := p.decodeText(part.data)
		if part.isFile && files {
			value = p.construct("File", p.vm.NewArray(p.newArrayBuffer(part.data)), p.vm.ToValue(part.filename), p.record("type", part.contentType))
		}
		p.invoke(form, "append", p.vm.ToValue(part.name), value)
	}
	return form
}
