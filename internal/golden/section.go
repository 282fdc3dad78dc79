package golden

import (
	"bytes"
	"os"
	"slices"
	"testing"
)

// Section compares text with the part of a document between the lines
// "<!-- name: -->" and "<!-- :name -->", and with -update puts it there.
func Section(t testing.TB, path, name, text string) {
	t.Helper()
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := []byte("<!-- "+name+": -->\n"), []byte("<!-- :"+name+" -->\n")
	before, rest, begins := bytes.Cut(document, begin)
	part, after, ends := bytes.Cut(rest, end)
	switch {
	case !begins || !ends:
		t.Fatalf("%s has lost the marks of its section %q", path, name)
	case string(part) == text:
	case !Update():
		t.Fatalf("the section %q of %s is not what the code says; run this test with -update. It should have\n%s", name, path, text)
	default:
		if err := os.WriteFile(path, slices.Concat(before, begin, []byte(text), end, after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
