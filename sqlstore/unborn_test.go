package sqlstore

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a loss of power leaves of an empty database's only page is told from everything
// that may have held data.
func TestUnborn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "o.sqlite")
	sector := func(length int, change func(b []byte)) []byte {
		b := make([]byte, length)
		copy(b, "SQLite format 3\x00")
		binary.BigEndian.PutUint32(b[28:], 1)
		b[100] = 0x0d
		binary.BigEndian.PutUint16(b[105:], 4096)
		change(b)
		return b
	}
	same := func([]byte) {}
	for name, c := range map[string]struct {
		b                []byte
		unborn, pristine bool
	}{
		"a sector":            {sector(512, same), true, true},
		"the least":           {sector(108, same), true, true},
		"too short":           {sector(108, same)[:107], false, true},
		"a whole page":        {sector(4096, same), false, true},
		"more than a page":    {sector(4097, same), false, false},
		"zeros":               {make([]byte, 4096), true, true},
		"more zeros":          {make([]byte, 4097), false, false},
		"another file":        {sector(512, func(b []byte) { b[0] = 's' }), false, true},
		"two pages":           {sector(512, func(b []byte) { b[31] = 2 }), false, true},
		"an inner page":       {sector(512, func(b []byte) { b[100] = 5 }), false, true},
		"a freeblock":         {sector(512, func(b []byte) { b[101] = 1 }), false, true},
		"a row":               {sector(512, func(b []byte) { b[104] = 1 }), false, true},
		"its pointer":         {sector(512, func(b []byte) { b[108] = 1 }), false, true},
		"the end of the data": {sector(512, func(b []byte) { b[105], b[107] = 1, 1 }), true, true},
		"empty":               {nil, false, true},
	} {
		if err := os.WriteFile(path, c.b, 0o600); err != nil {
			t.Fatal(err)
		}
		unborn, err := Unborn(path)
		pristine, err2 := neverCommitted(path)
		if unborn != c.unborn || pristine != c.pristine || err != nil || err2 != nil {
			t.Errorf("%s: unborn %v, never committed %v, %v, %v", name, unborn, pristine, err, err2)
		}
		if err := clearUnborn(nil, path); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(path); err != nil || c.unborn != (len(b) == 0 && len(c.b) > 0) || !c.unborn && !bytes.Equal(b, c.b) {
			t.Errorf("%s: %d bytes are left, %v", name, len(b), err)
		}
	}
	// A file beside it says that there was something.
	for _, suffix := range []string{"-wal", "-history"} {
		for _, length := range []int{0, 1} {
			if err := os.WriteFile(path, sector(512, same), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+suffix, make([]byte, length), 0o600); err != nil {
				t.Fatal(err)
			}
			unborn, err := Unborn(path)
			pristine, err2 := neverCommitted(path)
			if unborn != (length == 0) || pristine != (length == 0) || err != nil || err2 != nil {
				t.Errorf("with %d bytes of %s: unborn %v, never committed %v, %v, %v", length, suffix, unborn, pristine, err, err2)
			}
		}
		if err := os.Remove(path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	// So does one that cannot be looked at.
	long := filepath.Join(t.TempDir(), strings.Repeat("n", 250))
	if held(long) == "" {
		t.Error("a name that is too long for a log has none")
	}
}
