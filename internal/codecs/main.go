// Command codecs fetches the image codecs that a binary contains from the Go modules
// that have them, and checks their digests. "make build" runs it.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"minido.dev/minido/runtime/binding/images/picture/codecs"
)

func main() {
	for _, f := range codecs.Files() {
		if err := fetch(f, filepath.Join("runtime/binding/images/picture/codecs", codecs.Dir)); err != nil {
			fmt.Fprintf(os.Stderr, "codecs: %s: %v\n", f.Name, err)
			os.Exit(1)
		}
	}
}

// fetch writes a file to dir, unless it is there.
func fetch(f codecs.File, dir string) error {
	to := filepath.Join(dir, f.Name)
	if data, err := os.ReadFile(to); err == nil && is(data, f) == nil {
		return nil
	}
	download := exec.Command("go", "mod", "download", "-json", f.Module+"@"+f.Version)
	var complaints bytes.Buffer
	download.Stderr = &complaints
	text, err := download.Output()
	var module struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(text, &module); err != nil || jsonErr != nil {
		return fmt.Errorf("%s: %s%s: %w", download, module.Error, complaints.Bytes(), errors.Join(err, jsonErr))
	}
	data, err := os.ReadFile(filepath.Join(module.Dir, f.Path))
	if err != nil {
		return err
	}
	if err := is(data, f); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// is checks that data is the content of a file.
func is(data []byte, f codecs.File) error {
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.SHA256 {
		return fmt.Errorf("%s of %s %s has the digest %x, not %s", f.Path, f.Module, f.Version, sum, f.SHA256)
	}
	return nil
}
