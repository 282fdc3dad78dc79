package encoding

import (
	"bytes"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// Encoding standard, section 8.2: TextEncoder writes UTF-8, lone surrogates as
// U+FFFD; encodeInto writes only whole characters.
func TestTextEncoder(t *testing.T) {
	w := newWorld(t)
	w.Tries([][2]string{
		{`new TextEncoder().encoding`, `utf-8`},
		{`Array.from(new TextEncoder().encode("aé€😀"))`, `[97,195,169,226,130,172,240,159,152,128]`},
		{`Array.from(new TextEncoder().encode("\ud83dx\ude00"))`, `[239,191,189,120,239,191,189]`},
		{`[new TextEncoder().encode().length, new TextEncoder().encode(undefined).length, new TextEncoder().encode("").length]`, `[0,0,0]`},
		{`new TextDecoder().decode(new TextEncoder().encode(null))`, `null`},
		{`new TextEncoder().encode(Symbol())`, `TypeError: Cannot convert a Symbol value to a string`},
		{`(b => [new TextEncoder().encodeInto("a€😀b", b), Array.from(b)])(new Uint8Array(7))`, `[{"read":2,"written":4},[97,226,130,172,0,0,0]]`},
		{`(b => [new TextEncoder().encodeInto("a€😀b", b), Array.from(b)])(new Uint8Array(8))`, `[{"read":4,"written":8},[97,226,130,172,240,159,152,128]]`},
		{`(b => [new TextEncoder().encodeInto("\ud800b", b.subarray(1)), Array.from(b)])(new Uint8Array(5))`, `[{"read":2,"written":4},[0,239,191,189,98]]`},
		{`new TextEncoder().encodeInto("a", new Uint16Array(2))`, `TypeError: Failed to execute 'encodeInto' on 'TextEncoder': parameter 2 is not of type 'Uint8Array'.`},
		{`new TextEncoder().encodeInto("a")`, `TypeError: Failed to execute 'encodeInto' on 'TextEncoder': parameter 2 is not of type 'Uint8Array'.`},
		{`TextEncoder.prototype.encode.call({})`, `TypeError: ` + engine.IllegalInvocation},
	})
}

// Encoding standard, section 8.1: labels, fatal, ignoreBOM and stream of
// TextDecoder.
func TestTextDecoder(t *testing.T) {
	w := newWorld(t)
	w.Run(`globalThis.d = (label, bytes, o) => new TextDecoder(label, o).decode(new Uint8Array(bytes));
		globalThis.codes = (s) => Array.from({length: s.length}, (_, i) => s.charCodeAt(i).toString(16)).join(" ");
		globalThis.parts = (label, list, o) => { const x = new TextDecoder(label, o); return list.map((b) => x.decode(new Uint8Array(b), {stream: true})).concat(x.decode()) }`)
	w.Tries([][2]string{
		{`(x => [x.encoding, x.fatal, x.ignoreBOM])(new TextDecoder())`, `["utf-8",false,false]`},
		{`(x => [x.encoding, x.fatal, x.ignoreBOM])(new TextDecoder(" Latin1\n", {fatal: true, ignoreBOM: 1}))`, `["windows-1252",true,true]`},
		{`["UTF8", "utf-16", "ucs-2", "unicodefffe", "sjis", "x-gbk", "gb18030", "big5-hkscs", "euc-kr", "koi8-ru", "logical", "visual", "cp866", "mac", "iso-2022-jp"].map((l) => new TextDecoder(l).encoding)`,
			`["utf-8","utf-16le","utf-16le","utf-16be","shift_jis","gbk","gb18030","big5","euc-kr","koi8-u","iso-8859-8-i","iso-8859-8","ibm866","macintosh","iso-2022-jp"]`},
		{`new TextDecoder("nope")`, `RangeError: "nope" is not a valid encoding.`},
		{`new TextDecoder("utf-8\u00a0")`, "RangeError: \"utf-8\u00a0\" is not a valid encoding."},
		{`new TextDecoder("replacement")`, `RangeError: "replacement" is not a valid encoding.`},
		{`new TextDecoder("hz-gb-2312")`, `RangeError: "hz-gb-2312" is not a valid encoding.`},
		{`new TextDecoder("zz", null)`, `TypeError: Cannot initialize N7workerd3api11TextDecoder18ConstructorOptionsE with required members from an undefined or null value.`},
		{`new TextDecoder("utf-8", undefined).encoding`, `utf-8`},
		{`new TextDecoder("utf-8", 1)`, `TypeError: Failed to construct 'TextDecoder': constructor parameter 2 is not of type 'ConstructorOptions'.`},
		{`new TextDecoder().decode("x")`, `TypeError: Failed to execute 'decode' on 'TextDecoder': parameter 1 is not of type 'Array'.`},
		{`[new TextDecoder().decode(), new TextDecoder().decode(new Uint8Array([104, 105]).buffer), new TextDecoder().decode(new DataView(new Uint8Array([104, 105]).buffer, 1))]`, `["","hi","i"]`},
		{`codes(d("utf-8", [0x61, 0xf0, 0x9f, 0x98, 0x80, 0xc0, 0x80, 0xe2, 0x82, 0x62, 0xf0, 0x9f]))`, `61 d83d de00 fffd fffd fffd 62 fffd`},
		{`codes(d("utf-8", [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x61]))`, `feff 61`},
		{`codes(d("utf-8", [0xef, 0xbb, 0xbf, 0x61], {ignoreBOM: true}))`, `feff 61`},
		{`d("utf-8", [0x61, 0xff], {fatal: true})`, `TypeError: Failed to decode input.`},
		{`d("utf-8", [0xe2, 0x82], {fatal: true})`, `TypeError: Failed to decode input.`},
		{`parts("utf-8", [[0xef], [0xbb], [0xbf, 0xe2], [0x82], [0xac, 0xf0, 0x9f], [0x98, 0x80, 0xc3]])`, `["","","","","€","😀","` + "\ufffd" + `"]`},
		{`parts("utf-8", [[0xe2, 0x82], [0xac]], {fatal: true})`, `["","€",""]`},
		{`parts("utf-8", [[0xe2, 0x82]], {fatal: true})`, `TypeError: Failed to decode input.`},
		{`(x => { const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x61]); return [x.decode(bytes), x.decode(bytes)].map(codes) })(new TextDecoder())`, `["61","61"]`},
		{`(x => { try { x.decode(new Uint8Array([0xff]), {stream: true}) } catch {} return x.decode(new Uint8Array([0x61])) })(new TextDecoder("utf-8", {fatal: true}))`, `a`},
		{`codes(d("utf-16le", [0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0, 0xde, 0, 0xd8, 0x62]))`, `61 d83d de00 fffd`},
		{`codes(d("utf-16be", [0xd8, 0, 0])) + codes(d("utf-16le", [0x61, 0, 0]))`, `fffd61 fffd`}, // Encoding, section 14.2.1, at the end: one error
		{`codes(d("utf-16be", [0xfe, 0xff, 0, 0x61, 0xd8, 0x3d, 0xde, 0]))`, `61 d83d de00`},
		{`parts("utf-16le", [[0xff], [0xfe, 0x3d], [0xd8, 0], [0xde, 0x61], [0, 0, 0xd8]])`, `["","","","😀","a","` + "\ufffd" + `"]`},
		{`d("utf-16le", [0, 0xd8], {fatal: true})`, `TypeError: Failed to decode input.`},
		{`codes(d("windows-1252", [0x80, 0x81, 0xe9]))`, `20ac 81 e9`},
		{`[d("shift_jis", [0x82, 0xa0]), d("euc-jp", [0xa4, 0xa2]), d("gbk", [0xc4, 0xe3]), d("big5", [0xa7, 0x41]), d("koi8-r", [0xc1]), d("iso-2022-jp", [0x1b, 0x24, 0x42, 0x24, 0x22])]`, `["あ","あ","你","你","а","あ"]`},
		{`parts("shift_jis", [[0x82], [0xa0, 0x82]])`, `["","あ","` + "\ufffd" + `"]`},
		{`d("shift_jis", [0x82], {fatal: true})`, `TypeError: Failed to decode input.`},
		{`d("windows-1253", [0xaa], {fatal: true})`, `TypeError: Failed to decode input.`},
		{`d("gb18030", Array(5000).fill([0xc4, 0xe3]).flat()).length`, `5000`},
	})
}

// HTML, section 8.3 (atob, btoa) and Infra, section 7 (forgiving base64).
func TestBase64(t *testing.T) {
	w := newWorld(t)
	w.Tries([][2]string{
		{`[btoa(""), btoa("a"), btoa("ab"), btoa("\xff\x00\x80"), btoa(12), btoa(null)]`, `["","YQ==","YWI=","/wCA","MTI=","bnVsbA=="]`},
		{`btoa("€")`, `InvalidCharacterError: ` + textNotLatin1},
		{`btoa()`, `TypeError: Failed to execute 'btoa' on 'ServiceWorkerGlobalScope': parameter 1 is not of type 'String'.`},
		{`[atob(""), atob("YQ=="), atob("YQ"), atob(" Y\tW\nI\f=\r"), atob("/wCA") === "\xff\x00\x80", atob("YR==")]`, `["","a","a","ab",true,"a"]`},
		{`atob("YQ=")`, `InvalidCharacterError: ` + textNotBase64},
		{`atob("Y")`, `InvalidCharacterError: ` + textNotBase64},
		{`atob("Y===")`, `InvalidCharacterError: ` + textNotBase64},
		{`atob("YQ-_")`, `InvalidCharacterError: ` + textNotBase64},
		{`atob("YQ\u00a0=")`, `InvalidCharacterError: ` + textNotBase64},
		{`(() => { try { atob("*") } catch (e) { return [e instanceof DOMException, e.code] } })()`, `[true,5]`},
	})
}

// Encoding standard, section 8.1: a stream decodes to the same text however it
// is cut, and so does malformed input.
func FuzzTextDecoderStream(f *testing.F) {
	labels := []string{"utf-8", "utf-16le", "utf-16be", "windows-1252", "shift_jis", "euc-jp", "iso-2022-jp", "gbk", "gb18030", "big5", "euc-kr"}
	f.Add([]byte("\xef\xbb\xbfa\xe2\x82\xac\xf0\x9f\x98\x80\xf0\x9f"), uint8(1))
	f.Add([]byte("\xff\xfe\x3d\xd8\x00\xde\x00\xd8a"), uint8(3))
	f.Add([]byte("\x1b$B$\"\x1b(B\x82\xa0\x81\x30\x81\x30\x8e\xa2"), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		for _, label := range labels {
			d, err := NewDecoder(label)
			if err != nil {
				t.Fatal(err)
			}
			text := func(x Text) []uint16 {
				if x.units != nil {
					return x.units
				}
				return utf16.Encode([]rune(x.text))
			}
			whole, _ := d.Decode(data, true)
			var cut []uint16
			n := int(step)%5 + 1
			for rest := data; len(rest) > 0; rest = rest[min(n, len(rest)):] {
				x, _ := d.Decode(rest[:min(n, len(rest))], false)
				cut = append(cut, text(x)...)
			}
			x, _ := d.Decode(nil, true)
			if cut = append(cut, text(x)...); !slices.Equal(cut, text(whole)) {
				t.Fatalf("%s: %x in steps of %d gave %x, at once %x", label, data, n, cut, text(whole))
			}
		}
	})
}

// Long ASCII, and what follows it, is decoded as short texts are.
func TestTextDecoderOfLongTexts(t *testing.T) {
	w := newWorld(t)
	w.Run(`globalThis.after = (n, bytes, o) => { const s = new TextDecoder("utf-8", o).decode(new Uint8Array([...new Uint8Array(n).fill(97), ...bytes, 98])); return s.length + s.slice(n) + s.startsWith("a".repeat(n)); };`)
	w.Tries([][2]string{
		{`[0, 7, 8, 31, 32, 33, 100].map((n) => after(n, []))`, `["1btrue","8btrue","9btrue","32btrue","33btrue","34btrue","101btrue"]`},
		{`[0, 7, 8, 31, 32, 33, 100].map((n) => after(n, [0xE2, 0x82, 0xAC]))`, `["2€btrue","9€btrue","10€btrue","33€btrue","34€btrue","35€btrue","102€btrue"]`},
		{`[7, 8, 31, 100].map((n) => after(n, [0xE2, 0x82]))`, "[\"9\ufffdbtrue\",\"10\ufffdbtrue\",\"33\ufffdbtrue\",\"102\ufffdbtrue\"]"},
		{`after(40, [0xFF], { fatal: true })`, `TypeError: Failed to decode input.`},
	})
}

func BenchmarkDecode(b *testing.B) {
	chunk := bytes.Repeat([]byte("a text of ASCII "), 1<<16)
	w := newWorld(b)
	p := &Classes{Realm: w.Realm}
	for b.Loop() {
		d, _ := NewDecoder("utf-8")
		text, _ := d.Decode(chunk, true)
		if p.Value(text).(goja.String).Length() != 1<<20 {
			b.Fatal("another length")
		}
	}
}
