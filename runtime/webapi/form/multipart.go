package form

import (
	"bytes"
	"fmt"
	"strings"

	"minido.dev/minido/runtime/webapi/mime"
	"minido.dev/minido/runtime/webapi/url"
)

// formPart is one entry of a form (XMLHttpRequest standard, section 5).
type formPart struct {
	name        string
	data        []byte
	isFile      bool
	filename    string
	contentType string
}

const (
	textNoBoundary = `No boundary string in Content-Type header. The multipart/form-data MIME type requires a boundary parameter, e.g. 'Content-Type: multipart/form-data; boundary="abcd"'. See RFC 7578, section 4.`
	textFormType   = "Unrecognized Content-Type header value. FormData can only parse the following MIME types: multipart/form-data, application/x-www-form-urlencoded"
)

// formError is why a form cannot be parsed: the text of a TypeError.
type formError string

// Error implements error.
func (e formError) Error() string { return string(e) }

// parseFormBody reads the body of a form; the errors are workerd's texts
// (api/form-data.c++).
func parseFormBody(data []byte, contentType string) ([]formPart, error) {
	typ, ok := mime.Parse(contentType)
	if !ok {
		return nil, formError(textFormType)
	}
	switch typ.Essence {
	case "multipart/form-data":
		boundary, _ := typ.Param("boundary")
		if boundary == "" {
			return nil, formError(textNoBoundary)
		}
		return parseMultipart(data, boundary)
	case "application/x-www-form-urlencoded":
		charset, _ := typ.Param("charset")
		switch strings.ToLower(charset) {
		case "", "utf-8", "utf8", "unicode-1-1-utf-8":
		default:
			return nil, formError("Non-utf-8 application/x-www-form-urlencoded body.")
		}
		var parts []formPart
		for _, f := range url.ParseForm(string(data)) {
			parts = append(parts, formPart{name: f.Name, data: []byte(f.Value)})
		}
		return parts, nil
	}
	return nil, formError(textFormType)
}

// parseMultipart reads parts between boundaries; lines may end in LF alone.
func parseMultipart(data []byte, boundary string) ([]formPart, error) {
	delimiter := []byte("--" + boundary)
	i := bytes.Index(data, delimiter)
	if i < 0 {
		return nil, formError("No initial boundary string (or you have a truncated message).")
	}
	var parts []formPart
	for rest := data[i+len(delimiter):]; ; {
		if bytes.HasPrefix(rest, []byte("--")) {
			return parts, nil
		}
		after, ok := bytes.CutPrefix(bytes.TrimPrefix(rest, []byte("\r")), []byte("\n"))
		if !ok {
			return nil, formError("Boundary string was not succeeded by CRLF, LF, or '--'.")
		}
		part, content, err := parsePartHead(after)
		if err != nil {
			return nil, err
		}
		end := bytes.Index(content, append([]byte("\n"), delimiter...))
		if end < 0 {
			return nil, formError("No subsequent boundary string after multipart message.")
		}
		part.data = bytes.TrimSuffix(content[:end], []byte("\r"))
		parts = append(parts, part)
		rest = content[end+1+len(delimiter):]
	}
}

// parsePartHead reads a part's headers up to the empty line.
func parsePartHead(data []byte) (part formPart, content []byte, err error) {
	head, content, ok := cutHead(data)
	if !ok {
		return part, nil, formError("No multipart message header termination found.")
	}
	disposition := ""
	for line := range strings.SplitSeq(string(head), "\n") {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\r"), ":")
		if !ok {
			return part, nil, formError("FormData part had invalid headers.")
		}
		switch value = strings.TrimSpace(value); strings.ToLower(strings.TrimSpace(name)) {
		case "content-disposition":
			disposition = value
		case "content-type":
			part.contentType = value
		}
	}
	if disposition == "" {
		return part, nil, formError("No valid Content-Disposition header found in FormData part.")
	}
	kind, params, _ := strings.Cut(disposition, ";")
	if kind = strings.TrimSpace(kind); !strings.EqualFold(kind, "form-data") {
		return part, nil, formError(fmt.Sprintf("Content-Disposition header for FormData part must have the value \"form-data\", possibly followed by parameters. Got: %q", kind))
	}
	var named bool
	if part.name, named = quotedParam(params, "name"); !named {
		return part, nil, formError("Content-Disposition header in FormData part is missing a name.")
	}
	part.filename, _ = quotedParam(params, "filename")
	part.isFile = part.filename != ""
	return part, content, nil
}

// cutHead cuts a part at its first empty line. As in workerd the lines of the
// head come before it: one that is empty itself ends none.
func cutHead(data []byte) (head, content []byte, ok bool) {
	for at := 0; ; at++ {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return nil, nil, false
		}
		at += i
		content, ok = bytes.CutPrefix(bytes.TrimPrefix(data[at+1:], []byte("\r")), []byte("\n"))
		if ok {
			return bytes.TrimSuffix(data[:at], []byte("\r")), content, true
		}
	}
}

// quotedParam finds name="value", as workerd does: a backslash makes the next
// character stand for itself, and what a browser writes as %22 stays so.
func quotedParam(params, name string) (found string, ok bool) {
	for params != "" {
		params = strings.TrimLeft(params, "; \t")
		key, rest, more := strings.Cut(params, "=")
		if !more {
			break
		}
		if !strings.HasPrefix(rest, `"`) {
			_, params, _ = strings.Cut(rest, ";")
			continue
		}
		var value strings.Builder
		i := 1
		for ; i < len(rest) && rest[i] != '"'; i++ {
			if rest[i] == '\\' && i+1 < len(rest) {
				i++
			}
			value.WriteByte(rest[i])
		}
		if i == len(rest) {
			return "", false // the quotation mark at the end is missing
		}
		if strings.EqualFold(strings.TrimSpace(key), name) {
			found, ok = value.String(), true // the last one counts
		}
		params = rest[i+1:]
	}
	return found, ok
}

// formEscaper is how names are quoted in workerd (api/form-data.c++): a carriage
// return stays, and a backslash is doubled.
var formEscaper = strings.NewReplacer("\n", "%0A", `"`, "%22", `\`, `\\`)

// writeMultipart serializes a form as workerd does: line ends of names and values
// stay as they are. It refuses a name that ends with a backslash.
func writeMultipart(parts []formPart, boundary string) ([]byte, error) {
	var out bytes.Buffer
	size := 0
	for _, part := range parts {
		size += 256 + len(part.name) + len(part.data)
	}
	out.Grow(size)
	for _, part := range parts {
		if strings.HasSuffix(part.name, `\`) || part.isFile && strings.HasSuffix(part.filename, `\`) {
			return nil, formError("Name or filename can't end with backslash")
		}
		fmt.Fprintf(&out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary, formEscaper.Replace(part.name))
		if part.isFile {
			typ := part.contentType
			if typ == "" {
				typ = "application/octet-stream"
			}
			fmt.Fprintf(&out, "; filename=\"%s\"\r\nContent-Type: %s", formEscaper.Replace(part.filename), typ)
		}
		out.WriteString("\r\n\r\n")
		out.Write(part.data)
		out.WriteString("\r\n")
	}
	fmt.Fprintf(&out, "--%s--", boundary)
	return out.Bytes(), nil
}
