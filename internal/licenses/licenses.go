// Package licenses holds the licence texts of everything that is compiled into the
// binary: the modules of all released platforms, and Go itself. The file is written by
// "go test ./internal/licenses -update", and the test fails when it is out of date.
package licenses

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the texts
	"fmt"
	"io"
)

//go:embed licenses.txt.gz
var compressed []byte

// Text is the list of the modules, followed by their licences. It may be called
// from anywhere. An error means that the binary is damaged.
func Text() (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return "", fmt.Errorf("licences: %w", err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("licences: %w", err)
	}
	return string(b), nil
}
