// Package prepared holds minido's own JavaScript as compiled programs, so that a
// starting process does not compile it. They are files that are not in the repository:
// "make build" makes them (internal/preludes). A binary that was built without them,
// or with those of other sources, compiles what it uses.
package prepared

import (
	"embed"
	"fmt"
	"hash/crc32"
	"strings"
)

// Dir is where the files are, below this package's folder.
const Dir = "made"

// Ending is that of their names.
const Ending = ".program"

//go:embed all:made
var made embed.FS

var table = crc32.MakeTable(crc32.Castagnoli)

// Name is that of the file for a source.
func Name(source string) string {
	return fmt.Sprintf("%08x-%d%s", crc32.Checksum([]byte(source), table), len(source), Ending)
}

// Data is the content of the file for a program that was written in a format.
func Data(format, program string) string { return format + "\n" + program }

// Program is what was written of a source in a format, "" if nothing was. It may be called
// from anywhere.
func Program(format, source string) string {
	data, err := made.ReadFile(Dir + "/" + Name(source))
	if err != nil || format == "" {
		return ""
	}
	if program, ok := strings.CutPrefix(string(data), Data(format, "")); ok {
		return program
	}
	return ""
}
