package sourcemap

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// maxFile bounds the source map beside a file, in bytes.
const maxFile = 64 << 20

// Beside is the source map that lies beside the file at path, which has the given text
// (ECMA-426, section 11); nil if it names none in its own folder, or that is no file,
// larger than 64 MiB, or cannot be read.
func Beside(path, text string) []byte {
	const mark = "\n//# sourceMappingURL="
	at := strings.LastIndex(text, mark)
	if at < 0 {
		return nil
	}
	link, _, _ := strings.Cut(text[at+len(mark):], "\n")
	name, err := url.PathUnescape(strings.TrimRight(link, "\r"))
	if err != nil || name == "" || strings.ContainsAny(name, `/\:`) {
		return nil // in the file itself, or somewhere else
	}
	file := filepath.Join(filepath.Dir(path), name)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil
	}
	read, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	return read
}
