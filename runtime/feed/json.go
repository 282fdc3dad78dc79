package feed

import (
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the entry as an object of JSON, with the members that encoding/json
// gives it. A busy server writes thousands of entries a second: encoding/json would take
// several times as long.
func (e *Entry) AppendJSON(b []byte) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, e.Seq, 10)
	b = append(b, `,"at_ms":`...)
	b = strconv.AppendInt(b, e.AtMs, 10)
	b = append(b, `,"kind":"`...)
	b = append(b, e.Kind...)
	b = append(b, '"')
	b = text(b, `,"object":`, e.Object)
	b = text(b, `,"level":`, e.Level)
	b = text(b, `,"text":`, e.Text)
	b = text(b, `,"where":`, e.Where)
	b = text(b, `,"stack":`, e.Stack)
	b = text(b, `,"method":`, e.Method)
	b = text(b, `,"path":`, e.Path)
	b = number(b, `,"status":`, int64(e.Status))
	b = number(b, `,"record":`, e.Record)
	b = number(b, `,"took_us":`, e.TookUs)
	b = number(b, `,"computed_us":`, e.ComputedUs)
	b = number(b, `,"held":`, int64(e.Held))
	for i := range e.Statements {
		s := &e.Statements[i]
		if i == 0 {
			b = append(b, `,"statements":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"text":`...)
		b = quoted(b, s.Text)
		b = text(b, `,"where":`, s.Where)
		b = append(b, `,"took_us":`...)
		b = strconv.AppendInt(b, s.TookUs, 10)
		b = number(b, `,"rows_read":`, s.Read)
		b = number(b, `,"rows_written":`, s.Written)
		b = text(b, `,"failed":`, s.Failed)
		b = append(b, '}')
	}
	if len(e.Statements) > 0 {
		b = append(b, ']')
	}
	b = number(b, `,"unlisted":`, int64(e.Unlisted))
	b = text(b, `,"from":`, e.From)
	if e.Out {
		b = append(b, `,"out":true`...)
	}
	b = number(b, `,"bytes":`, int64(e.Bytes))
	b = text(b, `,"effect":`, e.Effect)
	b = text(b, `,"side":`, e.Side)
	b = text(b, `,"cause":`, e.Cause)
	b = number(b, `,"skipped":`, e.Skipped)
	return append(b, '}')
}

// text appends a member, unless it is empty. number does, unless it is 0.
func text(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return quoted(append(b, name...), s)
}

func number(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), n, 10)
}

const hexDigits = "0123456789abcdef"

// quoted appends a string. What is not UTF-8 becomes U+FFFD.
func quoted(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			b = append(b, s[from:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			default:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(b, s[from:i]...)
			b = utf8.AppendRune(b, utf8.RuneError)
			from = i + n
		}
		i += n
	}
	return append(append(b, s[from:]...), '"')
}
