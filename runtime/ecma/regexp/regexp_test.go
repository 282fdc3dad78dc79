package regexp

import (
	"strings"
	"testing"
)

// Property escapes and the flag v, which goja does not know, match as in
// workerd's V8, and such expressions show themselves as they were written.
func TestRegExp(t *testing.T) {
	newWorld(t).Tries([][2]string{
		{`["héé, wörld".match(new RegExp("\\p{L}+", "gu")), new RegExp("^\\P{L}+$", "u").test("12!")]`, `[["héé","wörld"],true]`},
		{`[..."aβЖ漢1".matchAll(new RegExp("\\p{Script=Greek}|\\p{sc=Cyrl}|\\p{scx=Han}", "gu"))].map(m => m[0] + m.index)`, `["β1","Ж2","漢3"]`},
		{`"x😀y👍🏽z".replace(new RegExp("\\p{Extended_Pictographic}\\p{EMod}?", "gu"), "E")`, `xEyEz`},
		{`[new RegExp("[\\p{Lu}_]+", "u").exec("ab_CÄd")[0], new RegExp("[^\\p{Lu}\\d]+", "u").exec("AB12xyÄ")[0], new RegExp("[\\P{L}a-c]+", "u").exec("xx1b2q")[0]]`, `["_CÄ","xy","1b2"]`},
		{`new RegExp("\\p{Nope}", "u")`, `SyntaxError: Invalid regular expression: /\p{Nope}/u: Invalid property name`},
		{`new RegExp("\\p{L}").test("p{L}")`, `true`},
		{`(() => { const r = new RegExp("\\p{L}/[/]", "giu"); return [r.source, r.flags, String(r), r.global, r.unicode, r instanceof RegExp, r.constructor === RegExp, Object.keys(r), Object.prototype.toString.call(r)] })()`, `["\\p{L}\\/[/]","giu","/\\p{L}\\/[/]/giu",true,true,true,true,[],"[object RegExp]"]`},
		{`(() => { class R extends RegExp { hi() { return 1 } } const r = new R("\\p{Lu}", "gu"); return [r instanceof R, r.hi(), "aBcD".match(r), new R(r).source, new R(r).flags, "aBcDe".split(r)] })()`, `[true,1,["B","D"],"\\p{Lu}","gu",["a","c","e"]]`},
		{`(() => { const r = new RegExp("\\p{L}", "gu"); r.lastIndex = 1; const m = r.exec("abc"); return [m[0], r.lastIndex, r.test("abc"), r.test("abc"), r.lastIndex] })()`, `["b",2,true,false,0]`},
		{`(() => { const r = new RegExp("(?<first>\\p{Lu})(?<rest>\\p{Ll}*)", "u"); const m = r.exec("hello World"); return [m.groups.first, m.groups.rest, m.index, "xWorld".replace(r, "$<rest>")] })()`, `["W","orld",6,"xorld"]`},
		{`[RegExp("a") instanceof RegExp, RegExp(/a/).source, (() => { const r = /a/g; return RegExp(r) === r })(), new RegExp(/a/g, "i").flags, new RegExp(new RegExp("\\p{L}", "u")).test("é"), new RegExp(new RegExp("\\p{L}", "u"), "gu").flags]`, `[true,"a",true,"i",true,"gu"]`},
		{`[RegExp.name, RegExp.length, RegExp.prototype.constructor === RegExp, RegExp[Symbol.species] === RegExp, /x/.constructor === RegExp, /x/ instanceof RegExp]`, `["RegExp",2,true,true,true,true]`},
		{`[new RegExp("[\\p{L}--[a-z]]", "v").test("a"), new RegExp("[\\p{L}--[a-z]]", "v").test("Ä"), new RegExp("^[[a-z]&&[aeiou]]+$", "v").test("aei"), new RegExp("^[\\q{abc|d}x]$", "v").exec("abc")?.[0], new RegExp("[a-z]", "v").flags, new RegExp("x", "v").unicodeSets]`, `[false,true,true,"abc","v",true]`},
		{`new RegExp("^(?=.*\\p{Lu})(?=.*\\p{Nd}).+$", "u").test("aB3")`, `true`},
		{`[new RegExp("\\p{Emoji}", "u").test("1"), new RegExp("\\p{Alphabetic}", "u").test("ⓐ"), new RegExp("^\\p{ID_Start}\\p{ID_Continue}*$", "u").test("a_b1é"), new RegExp("\\p{Any}", "u").test("😀"), new RegExp("\\p{ASCII}", "u").test("é"), new RegExp("\\p{White_Space}", "u").test("\u2003"), new RegExp("\\p{Cn}", "u").test("\u0378"), new RegExp("\\p{gc=Punctuation}", "u").test("!"), new RegExp("\\p{Sc}", "u").test("€")]`, `[true,true,true,true,false,true,true,true,true]`},
		{`["a1b2".split(new RegExp("\\p{Nd}", "u")), "a1b2".search(new RegExp("\\p{Nd}", "u")), "a1b2".replaceAll(new RegExp("\\p{Nd}", "gu"), d => d * 2)]`, `[["a","b",""],1,"a2b4"]`},
		{`[new RegExp("/").source, new RegExp("\r\u2028\u2029", "d").source, new RegExp("\u2028").source, String(new RegExp("\\/")), new RegExp("x/y").exec("x/y")[0]]`, `["\\/","\\r\\u2028\\u2029","\\u2028","/\\//","x/y"]`},
		{`(() => { const made = [1, 2].map(() => new RegExp("(?i:a)", "g")); made[0].compile("b"); return [made[0].source, made[1].source, made[1].test("A"), new RegExp("(?i:a)", "g").source] })()`, `["b","(?i:a)",true,"(?i:a)"]`},
		{`new RegExp("(", "u").source`, `SyntaxError: Invalid regular expression: /(/u: Unterminated group`},
		{`new RegExp("a", "uv")`, `SyntaxError: Invalid flags supplied to RegExp constructor 'uv'`},
		{`[new RegExp("[\\u{1F600}-\\u{1F64F}\\p{Lu}]", "u").test("😃"), new RegExp("[\\uD83D\\uDE00\\p{Lu}]", "u").test("😀")]`, `[true,true]`},
	})
}

// ECMA-262, section 22.2.2: with the flag i and look-around, escapes that stand for
// nearly everything match as without, in literals (which the bundler turns into
// calls) as in calls, and the expression shows itself as it was written.
func TestRegExpIgnoresCaseWithLookAround(t *testing.T) {
	const try = `(s, f) => { const r = new RegExp("(?!x)(?:" + s + ")", f); return [..."sSkK _\u00e9\n\u2028\u00a01a"].map(c => +r.test(c)).join("") + " " + r }`
	newWorld(t).Tries([][2]string{
		{`(` + try + `)("\\W", "i")`, `000010111100 /(?!x)(?:\W)/i`},
		{`(` + try + `)("a|\\W", "iu")`, `000010111101 /(?!x)(?:a|\W)/iu`},
		{`(` + try + `)("\\S", "i")`, `111101100011 /(?!x)(?:\S)/i`},
		{`(` + try + `)("\\D", "i")`, `111111111101 /(?!x)(?:\D)/i`},
		{`(` + try + `)(".", "i")`, `111111100111 /(?!x)(?:.)/i`},
		{`(` + try + `)(".", "is")`, `111111111111 /(?!x)(?:.)/is`},
		{`(` + try + `)("\\.", "i")`, `000000000000 /(?!x)(?:\.)/i`},
		{`(` + try + `)("[^\\S\\n]", "i")`, `000010001100 /(?!x)(?:[^\S\n])/i`},
		{`[new RegExp("(a)\\1\\W.", "i").exec("xAa-B")[0], new RegExp("(?<w>b)\\k<w>.", "i").exec("bB!").groups.w]`, `["Aa-B","b"]`},
	})
}

// 22.2.6.13.1: the source is what would stand in a literal.
func TestRegExpSource(t *testing.T) {
	newWorld(t).Tries([][2]string{
		{`[new RegExp("[\\]/]"), new RegExp("a/[/]"), new RegExp("\\\n\n\u2028")].map((r) => r.source).join()`, `[\]/],a\/[/],\n\n\u2028`},
	})
}

// 22.2.7.2 and 22.2.6: exec with v begins with the character that lastIndex is
// within; what moves through a text goes from character to character.
func TestRegExpCharacters(t *testing.T) {
	const at = `(s, f) => { const r = new RegExp(s, f); r.lastIndex = 1; return [r.exec("\ud834\udf06")?.index, r.lastIndex].join() }`
	newWorld(t).Tries([][2]string{
		{`(` + at + `)(".", "gv")`, `0,2`}, {`(` + at + `)("^.", "yv")`, `0,2`}, {`(` + at + `)("\\udf06", "gv")`, `,0`},
		{`"\ud834\udf06a".replace(new RegExp("(?:)", "gv"), "-") === "-\ud834\udf06-a-"`, `true`},
		{`[[..."\ud834\udf06a".matchAll(new RegExp("(?:)", "gv"))].map((m) => m.index), "\ud834\udf06a".split(new RegExp("(?:)", "v")).length]`, `[[0,2,3],2]`},
		{`[/a/.exec("a"), "a".match(/a/), [..."a".matchAll(/a/g)][0], /(?=a)a/.exec("a"), new RegExp("a", "v").exec("a")].map((m) => Object.keys(m).join())`,
			`["0,index,input,groups","0,index,input,groups","0,index,input,groups","0,index,input,groups","0,index,input,groups"]`},
		{`[new RegExp("^b$", "m").test("a\r\nb\r\n"), new RegExp("^b", "m").test("a\u2028b"), "a\r\nb".replace(new RegExp("$", "gm"), "|")]`, `[true,true,"a|\r|\nb|"]`},
	})
}

// What cannot be translated is refused by name.
func TestRegExpRefusals(t *testing.T) {
	w := newWorld(t)
	for source, want := range map[string]string{
		`new RegExp("\\P{RGI_Emoji}", "v")`:      "Invalid property name",
		`new RegExp("[z-a]", "v")`:               "Range out of order in character class",
		`new RegExp("[a", "v")`:                  "Unterminated character class",
		`new RegExp("[^\\q{ab}]", "v")`:          "may contain strings",
		`new RegExp("[\\p{L}", "u")`:             "Invalid regular expression: /[\\p{L}/u",
		`new RegExp("[\\u{110000}\\p{L}]", "u")`: "Invalid Unicode escape",
	} {
		w.Run(`try { ` + source + `; say("accepted") } catch (e) { say(e.name + ": " + e.message) }`)
		if got := strings.Join(w.Out, ""); !strings.HasPrefix(got, "SyntaxError: ") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", source, got)
		}
		w.Out = nil
	}
}
