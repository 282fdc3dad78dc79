// ECMA-262, section 22.2: regular expressions. Each line names what it shows.
const whole = (m) => m && [[...m], m.index, m.groups && { ...m.groups }];
// 22.2.7.8: match indices
check("indices", () => { const m = /a(?<x>b)?(c)/d.exec("xac"); return [whole(m), m.indices, m.indices.groups, Object.getPrototypeOf(m.indices.groups), Object.keys(m)]; });
check("indices by constructor", () => { const r = new RegExp("b+", "dg"), m = r.exec("abb"); return [m.indices[0], r.hasIndices, r.flags, /a/.hasIndices, RegExp.prototype.hasIndices, threw(() => Object.getOwnPropertyDescriptor(RegExp.prototype, "hasIndices").get.call({}))]; });
check("indices of all", () => [..."a1b22".matchAll(/(?<n>\d+)/dg)].map((m) => [m.indices[0], m.indices.groups.n]));
// 22.2.1: modifiers
check("modifiers", () => [/(?i:a)b/.test("Ab"), /(?i:a)b/.test("AB"), /(?-i:a)b/i.test("aB"), /(?-i:a)b/i.test("AB"), /a(?s:.)b/.test("a\nb"), /a(?-s:.)b/s.test("a\nb"), /(?m:^b$)/.test("a\nb"), /(?im-s:^B.)/s.test("a\nb\n")]);
check("modifiers refused", () => ["(?ii:a)", "(?i-i:a)", "(?-:a)", "(?u:a)", "(?i-", "(?i"].map((s) => threw(() => new RegExp(s))));
// 22.2.1.1: groups of one name in several alternatives
check("names twice", () => [whole(/(?<y>\d{4})-\d\d|\d\d-(?<y>\d{4})/.exec("01-2024")), "2024-01 02-2023".replace(/(?<y>\d{4})-\d\d|\d\d-(?<y>\d{4})/g, "[$<y>]"), whole(/(?:(?<a>x)|(?<a>y))\k<a>/.exec("yx yy")), whole(/(?:(?<b>1)|(?<a>2)|(?<b>3)){2}/.exec("13"))]);
check("names refused", () => ["(?<a>x)(?<a>y)", "(?<a>x(?<a>y))", "(?<a>.)|(?<a>.)(?<a>.)", "\\k<b>(?<a>x)", "(?<1>x)", "(?<a"].map((s) => threw(() => new RegExp(s))));
// 22.2.2.3.1: a round of a loop forgets the groups within
check("rounds", () => [whole(/(?:(a)|b)*/.exec("ab")), whole(/(z)((a+)?(b+)?(c))*/.exec("zaacbbbcac")), whole(/(?:(a)|(b))+?$/.exec("ab")), whole(/(?=(?:(a)|b){2})/.exec("ab")), whole(/((a)|(b))*?c/.exec("abc"))]);
check("empty rounds", () => [whole(/(a*)*/.exec("b")), whole(/(?:a?)*?$/.exec("aa")), whole(/(\2a)(\1)/.exec("aaa")), whole(/(?:(x)|){3}/.exec("xx"))]);
// 22.2.2.4: look-behind goes backwards
check("behind", () => [whole(/(?<=(\d+)(\d+))$/.exec("1053")), whole(/(?<=\1(\w))d/i.exec("abCcd")), whole(/(?<!abc)\w\w\w/.exec("abcdef")), whole(/(?<=^(\w+))def/.exec("abcdef"))]);
// 22.2.2.7.3: what the flag i makes equal
check("case", () => [/\u212a/i.test("k"), /\u212a/iu.test("k"), /ſ/i.test("s"), /ſ/iu.test("S"), /[^x]/iu.test("X"), /\W/iu.test("ſ"), /ẞ/iu.test("ß"), /ß/i.test("ẞ")]);
check("v and i", () => [/\P{Lu}/iv.test("A"), /\P{Lu}/iu.test("A"), /[^\P{Lu}]/iv.test("a"), /[\p{Lu}--[A-Z]]/iv.test("b"), /[\p{Lu}--[A-Z]]/iv.test("é")]);
// 22.2.1: sets of the flag v
check("sets", () => [/^[\q{abc|d|}x]$/v.exec("abc")[0], /[\w--\d]+/v.exec("12ab3")[0], /[\p{L}&&\p{ASCII}]+/v.exec("éabc")[0], /^[^\d[a-c]]$/v.test("b"), threw(() => new RegExp("[a&&&b]", "v")), threw(() => new RegExp("[(]", "v")), threw(() => new RegExp("[a--b&&c]", "v")), threw(() => new RegExp("[^\\q{ab}]", "v")), /v/v.unicode, /v/v.unicodeSets]);
check("points", () => ["😀".split(/(?:)/v), "a😀b".replace(/(?:)/gv, "-"), "a😀b".match(/./gv), whole(/^.$/.exec("😀")), whole(/\udf06/u.exec("\ud834\udf06")), "😀x".search(/x/v), [..."😀".matchAll(/(?:)/gv)].length]);
// B.1.2
check("annex b", () => [/\1(a)/.exec("aa")[0], /\8/.test("8"), /[\c_]/.test("\x1f"), /\c/.test("\\c"), /a{,2}/.test("a{,2}"), /{/.test("{"), /]/.test("]"), /\u{2}/.test("uu"), /(?=a)*b/.test("b"), /[\d-z]+/.exec("1-z")[0], /\07/.test("\x07"), /\k/.test("k")]);
check("early errors", () => [["(", ""], [")", ""], ["[", ""], ["*", ""], ["a**", ""], ["\\", ""], ["[b-a]", ""], ["a{2,1}", ""], ["(?<a>", ""], ["(?", ""], ["(?<!a)*", ""], ["{1}", ""], ["{", "u"], ["]", "u"], ["\\1", "u"], ["\\p{x}", "u"], ["\\-", "u"], ["\\u{110000}", "u"], ["\\xz", "u"], ["[\\d-z]", "u"], ["(?=a)*", "u"], ["\\01", "u"], ["a{1", "u"], ["\\c", "u"], ["[\\p{x}]", "u"], ["a", "uv"], ["a", "gg"], ["a", "x"]].map(([s, f]) => threw(() => new RegExp(s, f))));
// 22.2.4.1
check("constructor", () => { const like = { [Symbol.match]: true, source: "x", flags: "g", constructor: RegExp }; const r = /a/d; return [String(new RegExp(like)), RegExp(like) === like, RegExp(r) === r, new RegExp(r) === r, String(new RegExp(r)), String(new RegExp(r, "g")), String(RegExp()), String(new RegExp(undefined, undefined)), String(new RegExp(null)), String(new RegExp("/\n", "d")), String(new RegExp("", "d"))]; });
check("a new one each time", () => { const f = () => /(?i:a)/g; const a = f(); a.lastIndex = 5; return [f() === a, f().lastIndex]; });
check("subclass", () => { class R extends RegExp { exec(s) { const m = super.exec(s); if (m) m.push("!"); return m; } } const r = new R("(?i:b)", "dg"); return [r instanceof R, "aB".match(r), "aBb".replace(r, "x"), r.flags, "aBc".split(new R("(?i:b)"))]; });
// 22.2.6: methods
check("methods", () => { const r = /(?i:b)(?<n>\d)?/g; return ["aB1b".replace(r, (m, n, at, s, g) => `<${m},${n},${at},${s},${g.n}>`), "aB1b".match(r), "aB1b".search(r), "xb1yB".split(/(?i:b)(\d)?/), r.test("aB"), r.lastIndex, r.test("aB"), "aB1b".replaceAll(r, "$<n>|$1|$&|$`|$'")]; });
check("sticky", () => { const r = /(?i:a)/y; return [r.test("bA"), r.lastIndex, (r.lastIndex = 1, r.test("bA")), r.lastIndex, "AAb".replace(/(?i:a)/gy, "x"), (r.lastIndex = 7, r.exec("a")), r.lastIndex]; });
check("test asks exec", () => { const r = /a/; r.exec = () => ({}); const q = /a/; q.exec = () => 5; const n = /a/; n.exec = null; return [r.test("b"), threw(() => q.test("a")), n.test("a"), RegExp.prototype.test.call({ exec: () => null }, ""), threw(() => RegExp.prototype.test.call(5))]; });
check("flags", () => [Object.getOwnPropertyDescriptor(RegExp.prototype, "flags").get.call({ hasIndices: 1, global: true, unicodeSets: "x" }), RegExp.prototype.flags, RegExp.prototype.source, RegExp.prototype.toString.call({ source: "a", flags: "b" }), threw(() => RegExp.prototype.toString.call(1)), threw(() => Object.getOwnPropertyDescriptor(RegExp.prototype, "flags").get.call(1))]);
check("compile", () => { const r = /a/g; r.lastIndex = 3; return [String(r.compile("(?i:b)", "d")), r.lastIndex, r.exec("B").indices[0], String(r.compile("c")), r.exec("xc")[0], r.hasIndices, String(r.compile(/q/i)), r.test("Q"), threw(() => r.compile(/q/, "g"))]; });
// The properties of the last match, as V8 has them
check("statics", () => { const r = []; const now = () => r.push([RegExp.$1, RegExp.$2, RegExp.lastMatch, RegExp.lastParen, RegExp.leftContext, RegExp.rightContext, RegExp.input]); /b(c)?/.exec("abcd"); now(); /(y+)/.test("xyyz"); now(); /none/.test("q"); now(); "k1 k2".replace(/k(\d)/g, ""); now(); "abc".replace(/zz/, ""); now(); "abc".match(/(?i:B)/); now(); "x1".search(/\d/); now(); RegExp.input = 5; now(); RegExp.$1 = "no"; now(); const g = /(.)/g; g.test("ab"); g.test("ab"); now(); return r; });
check("static descriptors", () => ["$1", "$_", "lastMatch"].map((k) => { const d = Object.getOwnPropertyDescriptor(RegExp, k); return [typeof d.get, typeof d.set, d.enumerable, d.configurable]; }));
