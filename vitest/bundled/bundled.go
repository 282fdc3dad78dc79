// Package bundled holds npm vitest as one module, for projects without their own. The
// file is not in the repository: "make build" makes it from the packages that
// fixtures/testing installs (internal/vitestbundle). A binary that was built without
// it has no vitest of its own.
package bundled

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// File is where the file is, below this package's folder.
const File = "made/vitest.json.gz"

//go:embed all:made
var made embed.FS

// Vitest is the content of the file, which is gzip'ed JSON.
type Vitest struct {
	// Module is the source: an ES module that exports what "vitest" exports, and Parts.
	Module string
	// Packages are those that the module is made of, vitest first.
	Packages []Package
	// Licenses are their licence texts.
	Licenses string
}

// Parts is the name under which the module exports what a runner needs beside the
// exports of "vitest": an object { startTests, processError, mocker, spy }.
const Parts = "__minido_parts"

// Package is an npm package.
type Package struct{ Name, Version string }

// ErrNone says that the binary was built without the file.
var ErrNone = errors.New("this minido was built without a vitest of its own")

// Available reports whether the binary has the file.
func Available() bool {
	_, err := made.Open(File)
	return err == nil
}

// Load reads the file; it may be called from anywhere. An error other than ErrNone
// means that the binary is damaged.
func Load() (*Vitest, error) {
	data, err := made.ReadFile(File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("the bundled vitest: %w", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the bundled vitest: %w", err)
	}
	v := &Vitest{}
	if err := json.NewDecoder(r).Decode(v); err != nil {
		return nil, fmt.Errorf("the bundled vitest: %w", err)
	}
	return v, nil
}

// LicenseText lists the packages, followed by their licences.
func (v *Vitest) LicenseText() string {
	text := "\nIts own vitest contains these npm packages:\n\n"
	for _, p := range v.Packages {
		text += p.Name + " " + p.Version + "\n"
	}
	return text + v.Licenses
}

// Version is that of npm vitest.
func (v *Vitest) Version() string { return v.Packages[0].Version }
