package bundle

import "strings"

// Prefetch starts compiling, off the loop, those deferred modules that would
// hold up the first request that touches one of them: goja compiles a regular
// expression along with the code around it, and one that ignores case needs
// tens of milliseconds for every \S, \W and \D (regexp2 looks for the case
// variants of a million code points). Safe for concurrent use.
func (b *Bundle) Prefetch() {
	spawn := b.bundler.opts.Spawn
	if spawn == nil {
		return
	}
	spawn("bundle.prefetch", func() {
		for _, m := range b.modules {
			if m.low != nil && hasCostlyRegexp(m.low.code) {
				// An error is kept in the unit and met again at its use.
				_, _ = m.program()
			}
		}
	})
}

// hasCostlyRegexp looks for lines that may hold such a literal; look-around
// takes it away from Go's own engine. A mistake costs some time, no more.
func hasCostlyRegexp(code string) bool {
	for _, sign := range []string{"(?!", "(?=", "(?<"} {
		for at := 0; ; {
			i := strings.Index(code[at:], sign)
			if i < 0 {
				break
			}
			at += i
			begin := strings.LastIndexByte(code[:at], '\n') + 1
			line, _, _ := strings.Cut(code[begin:], "\n")
			if ignoresCase(line) && (strings.Contains(line, `\S`) || strings.Contains(line, `\W`) || strings.Contains(line, `\D`)) {
				return true
			}
			at = max(begin+len(line), at+1)
		}
	}
	return false
}

// ignoresCase reports whether a line has a slash with flags behind it, an i
// among them.
func ignoresCase(line string) bool {
	for {
		_, rest, found := strings.Cut(line, "/")
		if !found {
			return false
		}
		flags := rest[:len(rest)-len(strings.TrimLeft(rest, "dgimsuvy"))]
		if strings.Contains(flags, "i") {
			return true
		}
		line = rest
	}
}
