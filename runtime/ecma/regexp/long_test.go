package regexp

import "testing"

// In a long text replace, match and split do what ECMA-262 says step by step: their results,
// and lastIndex, are those of an expression whose steps can be observed.
func TestLongTexts(t *testing.T) {
	w := newWorld(t)
	w.Realm.Engine.Natives.LongText = 1
	w.Run(`
const observed = (re) => { Object.defineProperty(re, "exec", { value: RegExp.prototype.exec, writable: true }); return re; };
const templates = ["", "x", "$", "$$", "a$", "[$&]", "$1|$2|$3|$0|$00", "$01$10$11", "$<n>", "$<x>.", "$<", "$<n", "$` + "`" + `-", "$'-", "é$&", (...a) => JSON.stringify(a), () => 1, (m) => m + "😀"];
const patterns = [["b+", "g"], ["b", ""], ["b", "y"], ["b", "gy"], ["(?:)", "g"], ["(?:)", "gu"], ["(?:)", "gv"], ["(?<n>b)(c)?", "g"], ["(?<n>b)(c)?", "dg"], ["b|$", "g"], ["(?<=-)b", "g"],
  ["\\p{L}", "gu"], ["[b--c]", "gv"], ["B", "gi"], ["^.", "gm"], ["(b)|(c)", "g"], ["q", "g"], [".", "gu"], ["\\ude00", "g"], ["(?=b)", "g"], ["b*?", "g"]];
const texts = ["", "b", "bcab", "-b-bb", "é b😀b", "b\nb\n", "😀😀", "cccc", "\ud83d"];
const show = (fn) => { try { return JSON.stringify(fn()); } catch (e) { return String(e); } };
let n = 0; const differ = [];
for (const [source, flags] of patterns) for (const text of texts) for (const last of [0, 2]) {
  const one = new RegExp(source, flags), other = observed(new RegExp(source, flags));
  const check = (name, fn) => {
    one.lastIndex = other.lastIndex = last; n++;
    const a = show(() => [fn(one), one.lastIndex]), b = show(() => [fn(other), other.lastIndex]);
    if (a !== b) differ.push([name, source, flags, text, last, a, b].join(" "));
  };
  for (const by of templates) check("replace " + by, (re) => text.replace(re, by));
  check("match", (re) => text.match(re));
  for (const limit of [undefined, 0, 1, 2, -1, 1.5, "2"]) check("split " + limit, (re) => text.split(re, limit));
}
say(differ.slice(0, 10).join("\n") || "same: " + (n > 8000));`)
	w.Said("same: true")
	w.Tries([][2]string{
		{`["a.b.".replaceAll(".", "$&$&"), "a.b.".replace(".", "[$'$` + "`" + `]"), "éé".replaceAll("", "-"), "aa".replaceAll("", (m, i, t) => i + t), "é.é".replaceAll(".", "$$1$1$<n>")]`,
			`["a..b..","a[b.a]b.","-é-é-","0aaa1aaa2aa","é$1$1$<n>é"]`},
		{`["aXbX".replaceAll("X", () => "$&"), "abc".replaceAll("q", "x"), "aaa".replaceAll("aa", "b"), "a".replace("", "b"), "1.5".replaceAll({ toString: () => "." }, { toString: () => "," }), String.prototype.replaceAll.call({ toString: () => "aba" }, "a", 1)]`,
			`["a$&b$&","abc","ba","ba","1,5","1b1"]`},
		{`["a".replaceAll("a", undefined), "a".replace(/a/g), "anull".replaceAll(null, "b"), (() => { try { "a".replaceAll("a", Symbol()) } catch (e) { return String(e) } })()]`,
			`["undefined","undefined","ab","TypeError: Cannot convert a Symbol value to a string"]`},
		{`(() => { const r = /a/g; Object.freeze(r); try { return "a".replace(r, "b") } catch (e) { return e.name } })()`, `TypeError`},
		{`(() => { "xaby".replace(/(a)(b)/g, "$2"); return [RegExp.$1, RegExp.$2, RegExp.lastMatch, RegExp["$` + "`" + `"]] })()`, `["a","b","ab","x"]`},
	})
}
