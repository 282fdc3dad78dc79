package event

import "testing"

// Headers that workerd knows leave only with a value; others leave empty, too.
func TestEmptyHeaders(t *testing.T) {
	for field, want := range map[Field]bool{
		{"Set-Cookie", ""}: false, {"etag", ""}: false, {"Vary", ""}: false,
		{"Set-Cookie", "a=1"}: true, {"X-Anything", ""}: true, {"Content-Security-Policy", ""}: true,
	} {
		if got := field.Leaves(); got != want {
			t.Errorf("%q: %q leaves: %v", field.Name, field.Value, got)
		}
	}
}
