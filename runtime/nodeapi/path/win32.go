package path

import "strings"

// win32Path implements path.win32.
type win32Path struct{}

func (win32Path) sep() string       { return `\` }
func (win32Path) delimiter() string { return ";" }
func (win32Path) isSep(c byte) bool { return c == '/' || c == '\\' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// volume divides a path into its device (`C:` or `\\server\share`), whether a
// separator roots it, and the rest.
func (f win32Path) volume(p string) (device string, rooted bool, rest string) {
	switch {
	case len(p) >= 2 && f.isSep(p[0]) && f.isSep(p[1]):
		i := 2
		server := f.word(p, &i)
		for i < len(p) && f.isSep(p[i]) {
			i++
		}
		share := f.word(p, &i)
		if server != "" && share != "" {
			return `\\` + server + `\` + share, true, p[i:]
		}
		return "", true, p[1:]
	case len(p) >= 1 && f.isSep(p[0]):
		return "", true, p[1:]
	case len(p) >= 2 && isLetter(p[0]) && p[1] == ':':
		rooted = len(p) > 2 && f.isSep(p[2])
		if rooted {
			return p[:2], true, p[3:]
		}
		return p[:2], false, p[2:]
	}
	return "", false, p
}

func (f win32Path) word(p string, i *int) string {
	start := *i
	for *i < len(p) && !f.isSep(p[*i]) {
		*i++
	}
	return p[start:*i]
}

func (f win32Path) isAbsolute(p string) bool {
	return p != "" && (f.isSep(p[0]) || len(p) > 2 && isLetter(p[0]) && p[1] == ':' && f.isSep(p[2]))
}

func (f win32Path) normalize(p string) string {
	if p == "" {
		return "."
	}
	device, rooted, rest := f.volume(p)
	tail := normalizeParts(rest, !rooted, f.isSep, `\`)
	if tail == "" && !rooted {
		tail = "."
	}
	if tail != "" && f.isSep(p[len(p)-1]) && rest != "" {
		tail += `\`
	}
	if rooted {
		return device + `\` + tail
	}
	return device + tail
}

func (f win32Path) join(parts []string) string {
	joined := joinNonEmpty(parts, `\`)
	if joined == "" {
		return "."
	}
	// Only a first part that is itself a UNC path may begin with two separators.
	first := ""
	for _, p := range parts {
		if p != "" {
			first = p
			break
		}
	}
	if !(len(first) > 2 && f.isSep(first[0]) && f.isSep(first[1]) && !f.isSep(first[2])) {
		n := 0
		for n < len(joined) && f.isSep(joined[n]) {
			n++
		}
		if n >= 2 {
			joined = `\` + joined[n:]
		}
	}
	return f.normalize(joined)
}

func (f win32Path) resolve(cwd string, parts []string) string {
	device, tail, rooted := "", "", false
	for i := len(parts) - 1; i >= -1; i-- {
		p := cwd
		if i >= 0 {
			p = parts[i]
		}
		if p == "" {
			continue
		}
		d, r, rest := f.volume(p)
		if d != "" && device != "" && !strings.EqualFold(d, device) {
			continue
		}
		if device == "" {
			device = d
		}
		if !rooted {
			tail, rooted = rest+`\`+tail, r
		}
		if rooted && device != "" {
			break
		}
	}
	tail = normalizeParts(tail, !rooted, f.isSep, `\`)
	if rooted {
		return device + `\` + tail
	}
	if device+tail == "" {
		return "."
	}
	return device + tail
}

func (f win32Path) relative(cwd, from, to string) string {
	if from == to {
		return ""
	}
	a, b := f.resolve(cwd, []string{from}), f.resolve(cwd, []string{to})
	if strings.EqualFold(a, b) {
		return ""
	}
	da, _, _ := f.volume(a)
	db, _, _ := f.volume(b)
	if !strings.EqualFold(da, db) {
		return b
	}
	return relativeParts(a, b, `\`, strings.EqualFold)
}

func (f win32Path) toNamespaced(cwd, p string) string {
	if p == "" {
		return p
	}
	r := f.resolve(cwd, []string{p})
	switch {
	case len(r) <= 2:
		return p
	case strings.HasPrefix(r, `\\`):
		if r[2] != '?' && r[2] != '.' {
			return `\\?\UNC\` + r[2:]
		}
	case isLetter(r[0]) && r[1] == ':' && r[2] == '\\':
		return `\\?\` + r
	}
	return r
}

func (f win32Path) parse(p string) pathParts {
	device, rooted, rest := f.volume(p)
	r := pathParts{root: p[:len(p)-len(rest)]}
	if device == "" && rooted && len(r.root) > 1 {
		r.root = p[:1]
	}
	if strings.HasPrefix(device, `\\`) && rest != "" && f.isSep(rest[0]) {
		r.root, rest = p[:len(p)-len(rest)+1], rest[1:]
	}
	r.base = lastPart(f, rest, false)
	r.name, r.ext = splitExt(r.base)
	end := len(p)
	for end > len(r.root) && f.isSep(p[end-1]) {
		end--
	}
	end -= len(r.base)
	switch {
	case end <= len(r.root):
		r.dir = r.root
	default:
		r.dir = p[:end-1]
	}
	return r
}
