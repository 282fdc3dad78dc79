package form

import (
	"fmt"
	"reflect"
	"testing"
)

// Forms are read and refused as workerd does.
func TestParseFormBody(t *testing.T) {
	const head, part = "multipart/form-data; boundary=B", "--B\r\nContent-Disposition: form-data; "
	for _, c := range []struct{ typ, body, want string }{
		{"multipart/form-data", "x", textNoBoundary},
		{"multipart/form-data; boundary=", "x", textNoBoundary},
		{head, "x", "No initial boundary string (or you have a truncated message)."},
		{head, "--B--", "[]"},
		{head, part + "name=\"a\"\r\n\r\n1\r\n--B--", "[{a 1 false  }]"},
		{head, "--B\nContent-Disposition: form-data; name=\"a\"\n\n1\n--B--", "[{a 1 false  }]"},
		{head, part + "name=a\r\n\r\n1\r\n--B--", "Content-Disposition header in FormData part is missing a name."},
		{head, part + "name=\"a\"\r\n\r\n1\r\n", "No subsequent boundary string after multipart message."},
		{head, "--B\r\nContent-Type: text/plain\r\n\r\n1\r\n--B--", "No valid Content-Disposition header found in FormData part."},
		{head, "--B\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\n1\r\n--B--", `Content-Disposition header for FormData part must have the value "form-data", possibly followed by parameters. Got: "attachment"`},
		{head, "--Bx\r\n", "Boundary string was not succeeded by CRLF, LF, or '--'."},
		{head, part + "name=\"a\"\r\n", "No multipart message header termination found."},
		{head, "--B\r\n\r\n1\r\n--B--", "No multipart message header termination found."}, // the empty line ends no line before it
		{head, "--B\r\n\r\n\r\n1\r\n--B--", "FormData part had invalid headers."},
		{head, "--B\r\nx\r\n\r\n1\r\n--B--", "FormData part had invalid headers."},
		{"application/x-www-form-urlencoded;charset=latin1", "a=1", "Non-utf-8 application/x-www-form-urlencoded body."},
		{head, part + "name=\"a%22b\\\"c\"\r\n\r\n1\r\n--B--", `[{a%22b"c 1 false  }]`},
		{`multipart/form-data; boundary="B"`, "pre\r\n" + part + "name=\"a\"\r\n\r\n1\r\n--B\r\ncontent-disposition: Form-Data; filename=\"x.txt\"; name=\"f\"\r\ncontent-type: text/plain\r\n\r\nhe\r\nllo\r\n--B--\r\npost", "[{a 1 false  } {f he\r\nllo true x.txt text/plain}]"},
		{head, part + "name=\"f\"; filename=\"\"\r\n\r\n1\r\n--B--", `[{f 1 false  }]`}, // Fetch, "multipart/form-data parser"
		{"application/x-www-form-urlencoded", "a=1&b=%20x+y&&c", "[{a 1 false  } {b  x y false  } {c  false  }]"},
		{"application/x-www-form-urlencoded;charset=UTF-8", "", "[]"},
		{"text/plain", "a=1", textFormType},
	} {
		parts, err := parseFormBody([]byte(c.body), c.typ)
		got := "["
		for i, p := range parts {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("{%s %s %v %s %s}", p.name, p.data, p.isFile, p.filename, p.contentType)
		}
		if got += "]"; err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s, %q:\n got %s\nwant %s", c.typ, c.body, got, c.want)
		}
	}
}

// A form is written as workerd writes it, and read back.
func TestWriteForm(t *testing.T) {
	parts := []formPart{{name: "a\"b\r\n\\c", data: []byte("1\n2")}, {name: "f", isFile: true, filename: `n"x.txt`, contentType: "text/plain", data: []byte("xy")}, {name: "g", isFile: true, filename: "g", data: []byte("z")}}
	data, err := writeMultipart(parts, "B")
	if err != nil {
		t.Fatal(err)
	}
	got := string(data)
	const want = "--B\r\nContent-Disposition: form-data; name=\"a%22b\r%0A\\\\c\"\r\n\r\n1\n2\r\n" +
		"--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n%22x.txt\"\r\nContent-Type: text/plain\r\n\r\nxy\r\n" +
		"--B\r\nContent-Disposition: form-data; name=\"g\"; filename=\"g\"\r\nContent-Type: application/octet-stream\r\n\r\nz\r\n--B--"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if again, err := parseMultipart([]byte(got), "B"); err != nil || len(again) != 3 || string(again[1].data) != "xy" || again[0].name != "a%22b\r%0A\\c" || again[1].filename != "n%22x.txt" {
		t.Errorf("%v, %v", again, err)
	}
	for _, part := range []formPart{{name: `a\`}, {name: "f", isFile: true, filename: `n\`}} {
		if _, err := writeMultipart([]formPart{part}, "B"); err == nil {
			t.Errorf("%+v is written", part)
		}
	}
}

// RFC 7578: whatever arrives as multipart/form-data, the parser answers, and
// what it has read it can write and read again.
func FuzzMultipart(f *testing.F) {
	head := "--B\r\nContent-Disposition: form-data; "
	for _, seed := range []string{"", "--B--", head + "name=\"a\"\r\n\r\n1\r\n--B--", "--B\nContent-Disposition: form-data; name=\"a\"; filename=\"b\\\"c\"\nContent-Type: t/u\n\n1\n--B--",
		"pre\r\n" + head + "name=\"a\"\r\n\r\n--B\r\n\r\n--B--", head + "name=\"a\"\r\n\r\n1\r\n--B\r\n", head + "name=a;x", head + "name=\"\\", "--B\r\n\r\n\r\n--B--"} {
		f.Add([]byte(seed), "B")
	}
	f.Fuzz(func(t *testing.T, data []byte, boundary string) {
		parts, err := parseMultipart(data, boundary)
		if err != nil {
			return
		}
		for i, p := range parts {
			if int64(len(p.data)) > int64(len(data)) {
				t.Fatalf("part %d has more bytes than the body", i)
			}
			parts[i].name, parts[i].filename, parts[i].contentType = "n", "f", "t/u"
			if !p.isFile {
				parts[i].filename, parts[i].contentType = "", ""
			}
		}
		const other = "a boundary that no body has 3141592653589793"
		written, err := writeMultipart(parts, other)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseMultipart(written, other)
		if err != nil || len(again) != len(parts) {
			t.Fatalf("%d of %d parts came back, %v", len(again), len(parts), err)
		}
		for i := range parts {
			if string(again[i].data) != string(parts[i].data) {
				t.Fatalf("part %d: %q, was %q", i, again[i].data, parts[i].data)
			}
			again[i].data = parts[i].data // nil and empty are the same
			if !reflect.DeepEqual(again[i], parts[i]) {
				t.Fatalf("part %d: %+v, was %+v", i, again[i], parts[i])
			}
		}
	})
}
