package doctor

import (
	"fmt"
	"regexp"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/nodeapi/node"
)

// imported matches the static imports of node: modules; callOf is filled with a local
// name and matches the use of one of its members.
var (
	imported = lazyregexp.New(`(?m)^[ \t]*import\s+([^"';]+?)\s+from\s*["'](?:node:)?([a-z_/0-9]+)["']`)
	inBraces = lazyregexp.New(`(?s)\{(.*)\}`)
	alias    = lazyregexp.New(`^(?:\*\s+as\s+)?([\w$]+)$`)
)

// refusedUses are the places where a source imports or uses what its node: module has
// and refuses to do. It reads the text as a person who skims it does: what is called
// in a roundabout way is found when it throws.
func refusedUses(file, text string) []Finding {
	var found []Finding
	add := func(offset int, module, name string) {
		base := module
		if same := node.SameAs(module); same != "" {
			base = same
		}
		if refusal := node.RefusalOf(base + "." + name); refusal != nil {
			found = append(found, Finding{Throws, fmt.Sprintf("%s:%d", file, 1+strings.Count(text[:offset], "\n")),
				fmt.Sprintf("node:%s has no %s here: its use throws", module, name), refusal.Advice})
		}
	}
	for _, m := range imported.FindAllStringSubmatchIndex(text, -1) {
		clause, module := text[m[2]:m[3]], text[m[4]:m[5]]
		if strings.HasPrefix(clause, "type ") {
			continue
		}
		if names := inBraces.FindStringSubmatchIndex(clause); names != nil {
			offset := m[2] + names[2]
			for part := range strings.SplitSeq(clause[names[2]:names[3]], ",") {
				name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
				add(offset+len(part)-len(strings.TrimLeft(part, " \t\r\n")), module, name)
				offset += len(part) + 1
			}
			clause = strings.TrimRight(clause[:names[0]], ", \t\n")
		}
		if local := alias.FindStringSubmatch(strings.TrimSpace(clause)); local != nil {
			uses := regexp.MustCompile(`(?:^|[^\w$.])` + regexp.QuoteMeta(local[1]) + `\.([\w$]+)`)
			for _, use := range uses.FindAllStringSubmatchIndex(text, -1) {
				add(use[2], module, text[use[2]:use[3]])
			}
		}
	}
	return found
}
