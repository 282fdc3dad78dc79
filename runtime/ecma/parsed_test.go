package ecma

import (
	"testing"

	"minido.dev/minido/runtime/engine"
)

// ECMA-262, section 25.5.1: what is parsed is an object like any other: of as many
// members as a map's group holds, one less and more, it is read, grown, emptied and
// filled as one that a literal or assignments made.
func TestParsedObjectsAreOrdinary(t *testing.T) {
	w := newWorld(t)
	const source = `(() => {
	const wrong = [];
	const names = (n) => Array.from({ length: n }, (_, i) => ["id", "", "length", "__proto__x", "ü", "quo\"te", "a name of more than sixteen bytes", "toString", "x"][i % 9] + (i < 9 ? "" : i));
	const show = (o) => Reflect.ownKeys(o).map((k) => k + "=" + o[k] + (Object.hasOwn(o, k) ? "" : "?")).join() + "|" + [...Object.entries(o)].join(";");
	for (let n = 0; n <= 20; n++) {
		const made = {};
		names(n).forEach((k, i) => { made[k] = i; });
		const text = JSON.stringify(made);
		// Twice: the second time each name is guessed from the one before.
		for (const parsed of [JSON.parse(text), JSON.parse("[" + text + "," + text + "]")[1], JSON.parse('{"é":' + text + "}").é]) {
			const plain = { ...made };
			const same = (what) => { if (show(parsed) !== show(plain)) wrong.push(n + " " + what + ": " + show(parsed) + " for " + show(plain)); };
			same("parsed");
			for (const change of [
				(o) => { o.id = "other"; o.added = 1; },
				(o) => { delete o.id; delete o.nothing; },
				(o) => { for (let i = 0; i < 12; i++) o["more" + i] = i; },
				(o) => { o.id = "last"; Object.defineProperty(o, "ü", { value: 1, enumerable: false, configurable: true }); },
				(o) => { for (const k of Object.keys(o)) delete o[k]; },
				(o) => { o.again = 1; o.id = 2; },
			]) {
				change(parsed);
				change(plain);
				same(String(change));
			}
		}
		const list = JSON.parse("[" + names(n).map((_, i) => i) + "]"), plain = names(n).map((_, i) => i);
		for (const change of [
			(l) => l.push(7),
			(l) => { l.length = 2; l.extra = 1; l[5] = 3; },
			(l) => { for (let i = 0; i < 12; i++) l["more" + i] = i; },
			(l) => { delete l.extra; try { delete l.length; } catch {} l.sort(); },
		]) {
			change(list);
			change(plain);
			if (show(list) !== show(plain) || list.length !== plain.length) wrong.push(n + " list: " + show(list) + " for " + show(plain));
		}
	}
	// What follows a name once need not follow it again.
	for (const [text, want] of [
		['[{"a":1,"b":2},{"a":1,"bb":2},{"a":1,"b\\"":2},{"a":1}]', null],
		['[{"a":1,"b":2},{"a":1,"b', "SyntaxError"],
		['[{"a":1,"b":2},{"a":1,"b"', "SyntaxError"],
		['[{"a":1,"b":2},{"a":1,"b\n":2}]', "SyntaxError"],
		['[{"a\\"b":1,"x":1},{"a"b":1}]', "SyntaxError"],
		['[{"é":1,"b":2},{"é":1,"b":2},{"é":1,"c":2}]', null],
		['{"a":1,"a":2,"b":3,"a":4}', '{"a":4,"b":3}'],
	]) {
		let got;
		try { got = JSON.stringify(JSON.parse(text)); } catch (e) { got = e.name; }
		if (got !== (want ?? text)) wrong.push(text + ": " + got);
	}
	return wrong.join("\n");
})()`
	var got string
	w.e.Post(engine.GlobalFrame, "test", func() {
		v, err := w.e.VM().RunString(source)
		if err != nil {
			got = err.Error()
			return
		}
		got = v.String()
	})
	w.script(nil, "")
	if got != "" {
		t.Error(got)
	}
}
