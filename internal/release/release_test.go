package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/vitest/bundled"
)

var released = commit{"0123456789abcdef", time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)}

// An archive of the same binary and commit has the same bytes, whenever it is made,
// and holds the binary, which may be executed.
func TestArchivesAreReproducible(t *testing.T) {
	for _, system := range []target{{"linux", "amd64"}, {"windows", "arm64"}} {
		var bytesOf [2][]byte
		for i := range bytesOf {
			dir := t.TempDir()
			binary := filepath.Join(dir, "b")
			if err := os.WriteFile(binary, []byte("binary"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(binary, time.Time{}, time.Unix(int64(i)*1e6, 0)); err != nil {
				t.Fatal(err)
			}
			a, err := pack(dir, binary, system, released)
			if err != nil {
				t.Fatal(err)
			}
			if bytesOf[i], err = os.ReadFile(a.archive); err != nil {
				t.Fatal(err)
			}
			if err := writeSums(dir, []artifact{a}); err != nil {
				t.Fatal(err)
			}
			sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
			if want := sum(bytesOf[i]) + "  " + filepath.Base(a.archive) + "\n"; err != nil || string(sums) != want {
				t.Fatalf("SHA256SUMS: %q, %v, want %q", sums, err, want)
			}
		}
		if !bytes.Equal(bytesOf[0], bytesOf[1]) {
			t.Errorf("%s: two archives of the same binary differ", system)
		}
		if got := contents(t, system, bytesOf[0]); got != "binary" {
			t.Errorf("%s: the archive holds %q", system, got)
		}
	}
}

// contents unpacks the binary of an archive.
func contents(t *testing.T, system target, archive []byte) string {
	if system.os == "windows" {
		z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		f, err := z.Open("minido.exe")
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := unpack(z, dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "minido"))
	if err != nil || info.Mode()&0o111 == 0 {
		t.Fatalf("the unpacked binary: %v, %v", info, err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "minido"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The list of parts names every module of every binary once, with its version and
// checksum, and Go itself.
func TestBOM(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "b.example/b", Version: "v1.0.0", Sum: "h1:x="},
		{Path: "a.example/a", Version: "v1.0.0", Replace: &debug.Module{Path: "a.example/fork", Version: "v1.1.0"}}}}
	data, err := json.Marshal(bomOf([]*debug.BuildInfo{info, info}, []bundled.Package{{Name: "@vitest/spy", Version: "4.1.11"}}, released))
	if err != nil {
		t.Fatal(err)
	}
	var got bom
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, c := range got.Components {
		refs = append(refs, c.PURL)
	}
	if want := "pkg:golang/a.example/fork@v1.1.0 pkg:golang/b.example/b@v1.0.0 pkg:golang/std@1.26.8 pkg:npm/%40vitest/spy@4.1.11"; strings.Join(refs, " ") != want {
		t.Errorf("components %s, want %s", refs, want)
	}
	if got.Components[1].Properties[0].Value != "h1:x=" || got.Metadata.Timestamp != "2026-01-02T03:04:06Z" {
		t.Errorf("%s", data)
	}
	// The test binary itself is a real case: it can be read as a binary is.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	real, err := buildinfo.ReadFile(self)
	if err != nil || real.GoVersion == "" {
		t.Fatalf("%v, %v", real, err)
	}
}

// Unknown systems are refused by name.
func TestChoose(t *testing.T) {
	if _, err := choose("linux/amd64,plan9/386"); err == nil || !strings.Contains(err.Error(), `"plan9/386"`) {
		t.Errorf("%v", err)
	}
	if got, err := choose(""); err != nil || len(got) != 6 {
		t.Errorf("%v, %v", got, err)
	}
}

// The formula has each system's address and checksum, and is refused when one lacks.
func TestFormula(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "b")
	if err := os.WriteFile(binary, []byte("binary"), 0o755); err != nil {
		t.Fatal(err)
	}
	var made []artifact
	for _, system := range targets {
		if system.os == "linux" || system.os == "darwin" {
			a, err := pack(dir, binary, system, released)
			if err != nil {
				t.Fatal(err)
			}
			made = append(made, a)
		}
	}
	path, err := writeFormula(dir, "https://example.org/files/", made)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range made {
		data, err := os.ReadFile(a.archive)
		if want := fmt.Sprintf("url \"https://example.org/files/%s\"\n      sha256 \"%s\"", filepath.Base(a.archive), sum(data)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("no %s (%v) in\n%s", want, err, text)
		}
	}
	if _, err := writeFormula(dir, "https://example.org", made[1:]); err == nil || !strings.Contains(err.Error(), "linux/amd64") {
		t.Errorf("without linux/amd64: %v", err)
	}
}
