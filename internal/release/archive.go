package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// artifact is one binary and its archive.
type artifact struct {
	target  target
	binary  string // path
	archive string // path
	size    int64  // of the binary, in bytes
}

// pack writes the archive of a binary: zip for Windows, tar.gz for the others. It
// holds nothing of this machine: no names, no times but the commit's.
func pack(out, path string, t target, c commit) (artifact, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return artifact{}, err
	}
	var archive []byte
	name := archiveName(t)
	if t.os == "windows" {
		name += ".zip"
		archive, err = zipOf(t.binary(), data, c.at)
	} else {
		name += ".tar.gz"
		archive, err = tarOf(t.binary(), data, c.at)
	}
	if err != nil {
		return artifact{}, fmt.Errorf("%s: %w", name, err)
	}
	a := artifact{t, path, filepath.Join(out, name), int64(len(data))}
	return a, os.WriteFile(a.archive, archive, 0o644)
}

func tarOf(name string, data []byte, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(data)), ModTime: at, Format: tar.FormatUSTAR}
	if err := w.WriteHeader(h); err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = errors.Join(w.Close(), z.Close())
	return b.Bytes(), err
}

func zipOf(name string, data []byte, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at})
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// unpack writes the folders and regular files of a tar stream to dir, and refuses
// names that lead out of it.
func unpack(r io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(h.Name, 0o755)
		case tar.TypeReg:
			var data []byte
			if data, err = io.ReadAll(t); err == nil {
				err = root.WriteFile(h.Name, data, h.FileInfo().Mode().Perm())
			}
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("unpack %s: %w", h.Name, err)
		}
	}
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// writeSums writes SHA256SUMS, in the format of sha256sum.
func writeSums(out string, made []artifact, further ...string) error {
	var lines []string
	for _, a := range made {
		further = append(further, a.archive)
	}
	for _, path := range further {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines = append(lines, sum(data)+"  "+filepath.Base(path))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
