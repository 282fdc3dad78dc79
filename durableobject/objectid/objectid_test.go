package objectid

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The ids of names are those of the reference: wrangler 4.164.0 with workerd
// 1.20261117.1, script "ids", classes Alpha and Beta.
func TestFromNameIsTheReferences(t *testing.T) {
	alpha := NewNamespace("ids-Alpha")
	for _, c := range []struct{ name, want string }{
		{"", "aa854bf24d6e73638fcc0f54e73a94166eced251c8b9eb0f3d3163b90d318493"},
		{"r1", "b0f330bdf0eef74cdf57815dfed7fde385470ba1e36cc43c7f3a4f85081f3926"},
		{"lobby", "87f52ce21e4f9f2214a39166a4afbf713a8b555c43eeda4f368d14476caaae4f"},
		{"5", "b00441ca2e21c34ed34092af3c0db8067a373a4bbc921574ee01c714153383d2"},
		{"zed", "d598ef26b988246af2eb78521da0a031dda0d1e4d8beab62106da94227361092"},
		{"ü/∞ 𝄞", "b4aa28423d7faaf6406d4a0921a915cd465168fa09a812086821eea16c705f15"},
		{"a\x00b", "2ee662904607d78976d70d3166d52b85328d921a140feb9b3c85a94e871a621e"},
		{strings.Repeat("x", 2000), "5fa6787964554ab87f2e1d8d5f4920f2bac438e8762ff1b1351b3e7e2c982ee4"},
		{"\xed\xa0\x80", "00b0ea3a0f09ac5161908fc25e2237968549ee9d3f7006d6d2c6a28323f88c1a"},
	} {
		id := alpha.FromName(c.name)
		if id.String() != c.want {
			t.Errorf("FromName(%.20q) = %s, want %s", c.name, id, c.want)
		}
		if name, ok := id.Name(); !ok || name != c.name {
			t.Errorf("FromName(%.20q) has the name %.20q, %v", c.name, name, ok)
		}
	}
	beta := NewNamespace("ids-Beta").FromName("r1")
	if want := "fdc8143deda052428a45048858a690fc6676fb225264a3e725bfc7b00d6495d1"; beta.String() != want {
		t.Errorf("another class: %s, want %s", beta, want)
	}
	if beta.Equal(alpha.FromName("r1")) {
		t.Error("the same name in two namespaces gave the same id")
	}
	// A unique id that the reference made is ours to accept.
	if _, err := alpha.Parse("b0f1b622c5e9b40cfe4ed867e72ae75439ff491a7e78eaa961c18b36b25d9a08"); err != nil {
		t.Errorf("a unique id of the reference: %v", err)
	}
}

// Parse takes what String wrote, in either case, forgets the name, and refuses
// everything else with the reference's texts.
func TestParse(t *testing.T) {
	alpha, beta := NewNamespace("ids-Alpha"), NewNamespace("ids-Beta")
	named := alpha.FromName("r1")
	s := named.String()
	for _, text := range []string{s, strings.ToUpper(s)} {
		id, err := alpha.Parse(text)
		if err != nil || !id.Equal(named) {
			t.Fatalf("Parse(%q) = %v, %v", text, id, err)
		}
		if name, ok := id.Name(); ok {
			t.Errorf("a parsed id has the name %q", name)
		}
	}
	for _, c := range []struct {
		text string
		want error
	}{
		{"", ErrInvalid},
		{"abc", ErrInvalid},
		{s[:63], ErrInvalid},
		{s + "00", ErrInvalid},
		{s[:63] + " ", ErrInvalid},
		{"zz" + s[2:], ErrInvalid},
		{strings.Repeat("0", 64), ErrForeign},
	} {
		if _, err := alpha.Parse(c.text); !errors.Is(err, c.want) {
			t.Errorf("Parse(%q): %v, want %v", c.text, err, c.want)
		}
	}
	if _, err := beta.Parse(s); err == nil || err.Error() != "Durable Object ID is not valid for this namespace." {
		t.Errorf("a foreign id: %v", err)
	}
}

// A unique id depends on the randomness it was given, and on nothing else.
func TestUnique(t *testing.T) {
	ns := NewNamespace("ids-Alpha")
	a, err := ns.Unique(bytes.NewReader(bytes.Repeat([]byte{1}, base)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := ns.Unique(bytes.NewReader(bytes.Repeat([]byte{2}, base)))
	if err != nil {
		t.Fatal(err)
	}
	again, err := ns.Unique(bytes.NewReader(bytes.Repeat([]byte{1}, base)))
	if err != nil {
		t.Fatal(err)
	}
	if a.Equal(b) || !a.Equal(again) {
		t.Errorf("unique ids %v, %v and, from the first one's bytes, %v", a, b, again)
	}
	if _, ok := a.Name(); ok || a.IsZero() {
		t.Error("a unique id has a name, or is zero")
	}
	if name, ok := a.WithName("x").Name(); !ok || name != "x" || !a.WithName("x").Equal(a) {
		t.Error("WithName changed the id, or did not name it")
	}
	if _, err := ns.Unique(bytes.NewReader(nil)); !errors.Is(err, io.EOF) {
		t.Errorf("without randomness: %v", err)
	}
}

// Every id survives its text form, and changing any digit of it is noticed.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := NewNamespace(rapid.String().Draw(t, "key"))
		id := ns.FromName(rapid.String().Draw(t, "name"))
		got, err := ns.Parse(id.String())
		if err != nil || !got.Equal(id) {
			t.Fatalf("Parse(%v) = %v, %v", id, got, err)
		}
		text := []byte(id.String())
		i := rapid.IntRange(0, len(text)-1).Draw(t, "digit")
		text[i] = "123456789abcdef0"[strings.IndexByte("0123456789abcdef", text[i])]
		if _, err := ns.Parse(string(text)); !errors.Is(err, ErrForeign) {
			t.Fatalf("a changed digit gave %v", err)
		}
	})
}
