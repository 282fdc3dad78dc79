package images

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"

	"minido.dev/minido/runtime/binding/images/picture"
	"minido.dev/minido/runtime/binding/kv"
	"minido.dev/minido/runtime/event"
)

// Serves implements driver.Web.
func (d *bindings) Serves(path string) bool {
	for _, p := range []string{deliveryPath, uploadPath} {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}

// Serve implements driver.Web: hosted pictures are delivered, and uploads taken.
func (d *bindings) Serve(req *event.Request, body []byte, done func(*event.Response)) {
	d.stored.Add("images "+req.Method, func() {
		u, err := url.Parse(req.URL)
		var n *kv.Namespace
		if err == nil {
			n, err = d.data()
		}
		var resp *event.Response
		if err == nil {
			if id, ok := strings.CutPrefix(u.Path, uploadPath+"/"); ok {
				resp, err = d.take(n, id, req, body)
			} else {
				id, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(u.Path, deliveryPath), "/"), "/")
				resp, err = d.deliver(n, id, u)
			}
		}
		if err != nil {
			resp = text(500, "images: "+err.Error())
		}
		done(resp)
	})
}

func text(status int, s string) *event.Response {
	return answer(status, "text/plain;charset=UTF-8", []byte(s))
}

func answer(status int, mime string, data []byte) *event.Response {
	return &event.Response{Status: status, StatusText: event.Reason(status), Header: event.Header{{Name: "Content-Type", Value: mime}}, Body: event.Bytes(data)}
}

func (d *bindings) deliver(n *kv.Namespace, id string, u *url.URL) (*event.Response, error) {
	if id == "" {
		return text(400, "Missing image ID"), nil
	}
	m, data, err := d.find(n, id)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return text(404, "Image not found"), nil
	case m.RequireSignedURLs:
		if why := verify(u, n.Now()); why != "" {
			return text(401, why), nil
		}
	}
	mime := "application/octet-stream"
	if info, err := picture.ReadInfo(data); err == nil {
		mime = info.Format
	}
	return answer(200, mime, data), nil
}

// take makes the upload that createDirectUpload has announced.
func (d *bindings) take(n *kv.Namespace, id string, req *event.Request, body []byte) (*event.Response, error) {
	switch {
	case req.Method != "POST":
		return text(405, "Method not allowed"), nil
	case id == "":
		return text(400, "Missing image ID"), nil
	}
	m, _, err := d.find(n, id)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return text(404, "Upload link not found"), nil
	case !m.Draft:
		return text(409, "Upload link already used"), nil
	}
	expires, err := n.Get(id + draftSuffix)
	if err != nil {
		return nil, err
	}
	at := 0.0
	if expires != nil {
		at, err = strconv.ParseFloat(string(expires.Data), 64)
	}
	if err != nil || at < float64(n.Now())/1000 {
		return text(410, "Upload link expired"), nil
	}
	name, data, err := fileOf(req, body)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return text(400, "Missing file"), nil
	}
	m.Filename, m.Draft = &name, false
	if err := put(n, *m, data); err != nil {
		return nil, err
	}
	if err := n.Delete(id + draftSuffix); err != nil {
		return nil, err
	}
	reply, err := json.Marshal(struct {
		ID      string `json:"id"`
		Success bool   `json:"success"`
	}{id, true})
	return answer(200, "application/json", reply), err
}

// fileOf is the field "file" of a form; nil if it has none.
func fileOf(req *event.Request, body []byte) (name string, data []byte, err error) {
	_, params, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil {
		return "", nil, err
	}
	form := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return "", nil, nil
		}
		if err != nil {
			return "", nil, err
		}
		if part.FormName() != "file" || part.FileName() == "" {
			continue
		}
		data, err = io.ReadAll(part)
		if data == nil {
			data = []byte{}
		}
		return part.FileName(), data, err
	}
}
