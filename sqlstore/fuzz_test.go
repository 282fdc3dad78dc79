package sqlstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// written is a store that was dropped, as by SIGKILL, with a WAL and a history of
// several segments; it holds the numbers 1 to 60. It gives its files by suffix.
func written(t testing.TB) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.sqlite")
	c := clock.NewVirtual(start)
	s, err := Open(Options{Path: path, Clock: c, Entropy: entropy.NewSeeded(1), Sync: sqlite.Normal, HistoryBytes: DefaultHistoryBytes, checkpointFrames: 20})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 60 {
		_, err := s.Exec("CREATE TABLE IF NOT EXISTS t(n INTEGER PRIMARY KEY, pad)", nil)
		_, err2 := s.Exec("INSERT INTO t VALUES(?, zeroblob(300))", []any{int64(n + 1)})
		if err := errors.Join(err, err2, s.Put(fmt.Sprintf("%08d", n+1), []byte("v")), s.SetAlarm(int64(n+1)), s.Commit()); err != nil {
			t.Fatal(err)
		}
		c.Advance(20 * time.Millisecond)
	}
	if err := s.Drop(); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, suffix := range stateSuffixes {
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		files[suffix] = b
	}
	return files
}

var stateSuffixes = []string{"", "-wal", "-history"}

// lay writes files into a new directory.
func lay(t *testing.T, files map[string][]byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.sqlite")
	for _, suffix := range stateSuffixes {
		if b := files[suffix]; b != nil {
			if err := os.WriteFile(path+suffix, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return path
}

// told fails for an error that does not name the file that it is about.
func told(t *testing.T, what string, err error) {
	t.Helper()
	if !strings.Contains(err.Error(), "a.sqlite") {
		t.Fatalf("%s: the error names no file: %v", what, err)
	}
}

// look reads everything in a store, returns to earlier states, and writes.
func look(t *testing.T, path string, warned *[]error) {
	t.Helper()
	open := func() (*Store, error) {
		return Open(Options{Path: path, Clock: clock.NewVirtual(start.Add(time.Hour)), Entropy: entropy.NewSeeded(2), Sync: sqlite.Normal,
			HistoryBytes: DefaultHistoryBytes, checkpointFrames: 20, Warn: func(err error) { *warned = append(*warned, err) }})
	}
	s, err := open()
	if err != nil {
		told(t, "open", err)
		return
	}
	for range 2 {
		if err := use(s); err != nil {
			break // SQLite's words for a damaged page; the object shows them with its own name
		}
		b, err := s.BookmarkForTime(start.Add(300 * time.Millisecond).UnixMilli())
		if err != nil {
			break
		}
		if _, err := s.RestoreOnNextOpen(b); err != nil {
			break
		}
		if err := s.Close(); err != nil {
			return
		}
		if s, err = open(); err != nil {
			told(t, "restore", err)
			return
		}
	}
	_ = s.Close() // what cannot be read cannot be archived either
}

// use reads all and writes a little.
func use(s *Store) error {
	_, err := s.Exec("SELECT * FROM t", nil)
	_, err2 := list(s, ListOptions{})
	_, _, err3 := s.Alarm()
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	if err := s.Put("more", []byte("w")); err != nil {
		return err
	}
	return s.Commit()
}

// FuzzStateFiles: whatever stands in a store's files, and wherever they end, it
// opens, or an error names the file; then reading, restoring and writing end with
// a result or an error.
func FuzzStateFiles(f *testing.F) {
	files := written(f)
	f.Add(uint8(0), uint32(0), []byte("SQLite format 4"), uint32(0))
	f.Add(uint8(0), uint32(4096), make([]byte, 64), uint32(0))
	f.Add(uint8(1), uint32(0), []byte{}, uint32(4120))
	f.Add(uint8(1), uint32(40), []byte{1, 2, 3, 4}, uint32(0))
	f.Add(uint8(2), uint32(0), []byte{9}, uint32(0))
	f.Add(uint8(2), uint32(16), bytes.Repeat([]byte{0xff}, 32), uint32(0))
	f.Add(uint8(2), uint32(200), []byte{0xff}, uint32(100))
	f.Add(uint8(0), uint32(24), []byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, uint32(4096))
	f.Fuzz(func(t *testing.T, which uint8, at uint32, patch []byte, cut uint32) {
		suffix := stateSuffixes[int(which)%len(stateSuffixes)]
		b := bytes.Clone(files[suffix])
		copy(b[int(at)%len(b):], patch)
		b = b[:len(b)-int(cut)%(len(b)+1)]
		damaged := map[string][]byte{"": files[""], "-wal": files["-wal"], "-history": files["-history"]}
		damaged[suffix] = b
		var warned []error
		look(t, lay(t, damaged), &warned)
		for _, err := range warned {
			told(t, "warning", err)
		}
	})
}

// FuzzHistory: records with right checksums may say anything: a history is read up
// to what makes no sense, or refused, and reconstructing its states ends.
func FuzzHistory(f *testing.F) {
	files := written(f)
	good := files["-history"]
	f.Add(good, uint32(recordMark), words(3, 5))
	f.Add(good[:64], uint32(recordSegment), words(1, 2, 3, 4, 5))
	f.Add(good, uint32(recordSegment), words(1<<32-1, 0, 1<<32-1, -1, 1<<62))
	f.Add(good, uint32(recordFingerprint), words(-1, -1, -1, -1))
	f.Add(good, uint32(recordRestore), words(1, 1<<32-1, 1<<32-1))
	f.Add(good, uint32(recordRestore), words(7, 1, 5))
	f.Add(good, uint32(recordGeneration), words(1, 2, 3, 4))
	f.Add([]byte{}, uint32(99), []byte("x"))
	f.Fuzz(func(t *testing.T, history []byte, kind uint32, payload []byte) {
		if len(payload) > 1<<16 || len(history) > 1<<20 {
			return
		}
		history = append(bytes.Clone(history), record(kind, payload)...)
		path := lay(t, map[string][]byte{"": files[""], "-wal": files["-wal"], "-history": history})
		if st, err := readHistory(path + "-history"); err != nil {
			told(t, "read", err)
		} else if st != nil && st.end > int64(len(history)) {
			t.Fatalf("read up to %d of %d bytes", st.end, len(history))
		}
		var warned []error
		look(t, path, &warned)
	})
}

// FuzzWAL: of a WAL's frames those count that a slow reading of SQLite's format
// finds (sqlite.org/fileformat2.html, section 4).
func FuzzWAL(f *testing.F) {
	wal := written(f)["-wal"]
	f.Add(wal, uint32(0), []byte{})
	f.Add(wal, uint32(8), []byte{0, 0, 2, 0})
	f.Add(wal, uint32(36), []byte{0, 0, 0, 0})
	f.Add(wal[:len(wal)-100], uint32(100), []byte{1})
	f.Add([]byte{}, uint32(0), []byte{})
	f.Add(wal[:40], uint32(3), []byte{0x83})
	f.Fuzz(func(t *testing.T, b []byte, at uint32, patch []byte) {
		b = bytes.Clone(b)
		if len(b) > 0 {
			copy(b[int(at)%len(b):], patch)
		}
		path := filepath.Join(t.TempDir(), "a.sqlite-wal")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := openWAL(path)
		if err != nil {
			if !errors.Is(err, errNoWAL) {
				t.Fatal(err)
			}
			return
		}
		defer w.close()
		got, err := w.committed()
		if err != nil {
			t.Fatal(err)
		}
		if want := plainCommitted(b); got != want {
			t.Fatalf("%d frames, want %d", got, want)
		}
		if heads, err := w.heads(1, got); err != nil || uint32(len(heads)) != got || got > 0 && heads[got-1].commit == 0 {
			t.Fatalf("%d heads of %d, %v", len(heads), got, err)
		}
	})
}

// plainCommitted counts frames up to the last commit, word by word.
func plainCommitted(b []byte) (last uint32) {
	be := binary.BigEndian
	size := int(be.Uint32(b[8:]))
	word := func(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24 }
	if b[3] == 0x83 {
		word = be.Uint32
	}
	var x, y uint32
	add := func(b []byte) {
		for i := 0; i+8 <= len(b); i += 8 {
			x += word(b[i:]) + y
			y += word(b[i+4:]) + x
		}
	}
	add(b[:24])
	for n, at := uint32(1), 32; at+24+size <= len(b); n, at = n+1, at+24+size {
		frame := b[at : at+24+size]
		if !bytes.Equal(frame[8:16], b[16:24]) {
			return last
		}
		add(frame[:8])
		add(frame[24:])
		if be.Uint32(frame[16:]) != x || be.Uint32(frame[20:]) != y {
			return last
		}
		if be.Uint32(frame[4:]) != 0 {
			last = n
		}
	}
	return last
}

// FuzzFacets: an index of facets is read up to a torn tail, or refused with its
// name; opening it, which cuts the tail off, keeps what reading found, and a new
// facet has the next number.
func FuzzFacets(f *testing.F) {
	magic := "\x57\xef\xb0\xc5\x5b\xce\xcd\xc4"
	for _, seed := range []string{"", magic, magic[:5], magic + "\x00\x00\x02\x00ab\x01\x00\x01\x00c\x00\x00\x01\x00c", magic + "\x00\x00\x02\x00ab\x02\x00\x01\x00c", magic + "\x00\x00\x00\x00", magic + "\x00\x00\xff\xffx", "something else"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "a.sqlite.facets")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := ReadFacets(path)
		if err != nil {
			told(t, "read", err)
		}
		x, openErr := OpenFacetIndex(nil, path)
		if (openErr == nil) != (err == nil) {
			t.Fatalf("read: %v, open: %v", err, openErr)
		}
		if err != nil {
			told(t, "open", openErr)
			return
		}
		if !reflect.DeepEqual(x.All(), append([]Facet(nil), found...)) {
			t.Fatalf("read %v, opened %v", found, x.All())
		}
		id, err := x.ID(0, "a name that is not there")
		if err != nil || id > len(found)+1 {
			t.Fatalf("facet %d after %d, %v", id, len(found), err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if again, err := ReadFacets(path); err != nil || len(again) < len(found) || len(again) < id {
			t.Fatalf("%d facets became %d, %v", len(found), len(again), err)
		}
	})
}
