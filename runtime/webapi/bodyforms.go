package webapi

import "github.com/dop251/goja"

// platformBody is the content of a Blob, FormData or URLSearchParams.
func (p *Platform) platformBody(v *goja.Object) (data []byte, contentType string, ok bool) {
	return nil, "", false
}

// parseFormData makes the FormData of a body.
func (p *Platform) parseFormData(data []byte, contentType string) goja.Value {
	p.Engine.Throw("Error", "formData() is not built yet")
	return nil
}
