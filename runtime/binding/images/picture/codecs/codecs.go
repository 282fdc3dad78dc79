// Package codecs holds the WebP and AVIF codecs as WebAssembly. They are files of Go
// modules that cannot be imported as they are, since these link with the system's C
// library. The files are not in the repository: "make build" fetches them
// (internal/codecs). A binary that was built without them has no such codecs.
package codecs

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

// Dir is where the files are, below this package's folder.
const Dir = "made"

//go:embed all:made
var made embed.FS

// File is a codec's gzip'ed WebAssembly.
type File struct {
	Name            string // below Dir
	Module, Version string // of Go
	Path            string // in the module
	SHA256          string // of the file, in hexadecimal
}

// Files are all of them. webp is libwebp 1.4.0, the others are libavif 1.1.1 with libaom
// 3.10.0.
func Files() []File {
	const webp, avif = "github.com/gen2brain/webp", "github.com/gen2brain/avif"
	return []File{
		{"webp.wasm.gz", webp, "v0.5.5", "lib/webp.wasm.gz", "bbcf68343d79d80ba4ce7bb29215b2943711bd0787f68ff31785c6e2bb044459"},
		{"avif-decode.wasm.gz", avif, "v0.4.4", "lib/decode.wasm.gz", "1ee2423413384d54b3fa4e2882424d60a2a05f5fe7ec573535fdb6b531071a9b"},
		{"avif-encode.wasm.gz", avif, "v0.4.4", "lib/encode.wasm.gz", "af09b7698dc6034049cb8cd09378f5fd8f34de6079443bfb0240c208b1f3b670"},
	}
}

// ErrNone says that the binary was built without the files.
var ErrNone = errors.New("this minido was built without the codecs of WebP and AVIF: take one that make build or a release made")

// Read returns a file's content. It is safe for concurrent use. An error other than
// ErrNone means that the binary is damaged.
func Read(name string) ([]byte, error) {
	data, err := made.ReadFile(Dir + "/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("the codec %s: %w", name, err)
	}
	return data, nil
}
