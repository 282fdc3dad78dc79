package assets

import (
	_ "embed"
	"path"
	"strings"
	"sync"
)

// typesTable has a media type and its extensions in each line: IANA's registry, and
// common use where it has none, as wrangler dev serves them.
//
//go:embed types.txt
var typesTable string

// contentTypes are the types of files by extension. The machine's own table is not
// asked, so that every machine serves the same.
var contentTypes = sync.OnceValue(func() map[string]string { return parseTypes(typesTable) })

func parseTypes(table string) map[string]string {
	types := map[string]string{}
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		for i := 1; i < len(fields); i++ {
			types[fields[i]] = fields[0]
		}
	}
	return types
}

// contentType is the Content-Type of a file, "" if its name tells nothing.
func contentType(name string) string {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	kind := contentTypes()[ext]
	if strings.HasPrefix(kind, "text/") {
		kind += "; charset=utf-8"
	}
	return kind
}
