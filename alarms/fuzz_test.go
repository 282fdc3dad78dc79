package alarms

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
)

// FuzzIndex: whatever stands in an index's file, it opens, or the error names it;
// then its alarms are delivered, none before its time, and new ones are kept.
func FuzzIndex(f *testing.F) {
	const objects = "abcdefgh"
	start := func(t testing.TB, dir string, deliver func(Delivery)) (*Scheduler, *clock.Virtual, bool, error) {
		c := clock.NewVirtual(epoch)
		s := New(Options{Clock: c, Entropy: entropy.NewSeeded(1), Deliver: deliver})
		changed, err := s.Open(Namespace{Key: testNamespace, Class: "Agent", Dir: dir})
		return s, c, changed, err
	}
	dir := f.TempDir()
	s, _, _, err := start(f, dir, func(Delivery) {})
	if err != nil {
		f.Fatal(err)
	}
	for i, id := range objects {
		if err := s.Set(obj(strings.Repeat(string(id), 64)), at(int64(1000*i+1000)), "rpc"); err != nil {
			f.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, IndexFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte{}, uint32(0))
	f.Add(uint32(18), []byte{1, 1}, uint32(0))
	f.Add(uint32(60), []byte{0, 0, 0, 0}, uint32(0))
	f.Add(uint32(4096), bytes.Repeat([]byte{0xff}, 100), uint32(0))
	f.Add(uint32(8000), []byte("bbbbbbbb"), uint32(0))
	f.Add(uint32(0), []byte{}, uint32(5000))
	f.Add(uint32(100), []byte{5}, uint32(0))
	f.Fuzz(func(t *testing.T, where uint32, patch []byte, cut uint32) {
		dir := t.TempDir()
		b := bytes.Clone(good)
		copy(b[int(where)%len(b):], patch)
		b = b[:len(b)-int(cut)%(len(b)+1)]
		if err := os.WriteFile(filepath.Join(dir, IndexFile), b, 0o600); err != nil {
			t.Fatal(err)
		}
		var c *clock.Virtual
		s, c, _, err := start(t, dir, func(d Delivery) {
			if now := c.Now().UnixMilli(); d.ScheduledMs > now {
				t.Errorf("%s: %d was delivered at %d", d.ID, d.ScheduledMs, now)
			}
			d.Done(Finished)
		})
		if err != nil {
			if !strings.Contains(err.Error(), IndexFile) {
				t.Fatalf("the error does not name the file: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return
		}
		s.Start()
		if err := s.Set(obj("new"), at(500), "rpc"); err != nil {
			if !strings.Contains(err.Error(), IndexFile) {
				t.Fatalf("set: %v", err)
			}
		} else if ms, ok := s.Get(obj("new")); !ok || ms != at(500) {
			t.Fatalf("set to %d, got %d, %v", at(500), ms, ok)
		}
		c.Advance(10 * time.Second)
		_ = s.Close() // a damaged page may be met here first
	})
}
