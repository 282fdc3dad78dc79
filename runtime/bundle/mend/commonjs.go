package mend

import (
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// CommonJS are the parameters of a module's function whose code is CommonJS.
const CommonJS = "exports,require,module"

// What esbuild's own code has of the variables of CommonJS in a file that is none: the
// namespace, and what is published. Each is within one line.
var (
	ownExports = lazyregexp.New(`^(var [\w$]+ = )exports;`)
	ownModule  = lazyregexp.New(`^module\.exports( = __toCommonJS\d*\([\w$]+\);)$`)
	ownStars   = lazyregexp.New(`^(__reExport\d*\([\w$]+, .*, )module\.exports\);$`)
)

// WithoutCommonJS is code that is no CommonJS, and the parameters of its function: where it
// asks for module or exports these have other names, so that it finds none.
func WithoutCommonJS(body string) (out, parameters string) {
	own := replaceInLines(body, " = exports;", ownExports, "${1}$$exports$$;")
	own = replaceInLines(own, "module.exports = __toCommonJS", ownModule, "$$module$$.exports${1}")
	own = replaceInLines(own, ", module.exports);", ownStars, "${1}$$module$$.exports);")
	if !mentions(own, "module") && !mentions(own, "exports") {
		return body, CommonJS
	}
	return own, "$exports$,require,$module$"
}

// replaceInLines replaces what pattern finds in the lines of body that contain part. Other
// lines cost no more than a search for part: bodies have megabytes, few lines have it.
func replaceInLines(body, part string, pattern *lazyregexp.Regexp, replacement string) string {
	var sb strings.Builder
	from := 0
	for {
		i := strings.Index(body[from:], part)
		if i < 0 {
			if from == 0 {
				return body
			}
			sb.WriteString(body[from:])
			return sb.String()
		}
		start := from + strings.LastIndexByte(body[from:from+i], '\n') + 1
		end := len(body)
		if n := strings.IndexByte(body[from+i:], '\n'); n >= 0 {
			end = from + i + n
		}
		sb.WriteString(body[from:start])
		sb.WriteString(pattern.ReplaceAllString(body[start:end], replacement))
		from = end
	}
}

// mentions reports whether code asks for the variable: it reads a member of it, or its type.
// As text: what a comment or a string says counts, too.
func mentions(code, variable string) bool {
	for from := 0; ; {
		i := strings.Index(code[from:], variable)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(variable)
		from = end
		if end < len(code) && code[end] == '.' && starts(code, start) {
			return true
		}
		before, asked := strings.CutSuffix(code[:start], "typeof ")
		if asked && starts(code, len(before)) && (end == len(code) || !wordByte(code[end])) {
			return true
		}
	}
}

// starts reports whether a name can start at i: it is no part of a longer one, and no member.
func starts(code string, i int) bool {
	return i == 0 || !wordByte(code[i-1]) && code[i-1] != '.' && code[i-1] != '$'
}

func wordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
