package performance_test

import (
	"testing"

	"minido.dev/minido/runtime/webapi/webapitest"
)

// User Timing, sections 3 and 4: what marks and measures take and refuse.
func TestUserTiming(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`(() => { const m = performance.mark("a", { startTime: 5, detail: { x: [1] } }); return [m instanceof PerformanceMark, m.name, m.entryType, m.startTime, m.duration, m.detail, performance.getEntriesByName("a")[0] === m] })()`, `[true,"a","mark",5,0,{"x":[1]},true]`},
		{`(() => { const m = performance.measure("m", { start: "a", duration: 3, detail: [0] }); return [m.startTime, m.duration, m.detail, performance.measure("n", { start: 1, end: 4 }).duration, performance.measure("o", { end: 9, duration: 4 }).startTime, performance.measure("p", undefined, "a").duration] })()`, `[5,3,[0],3,5,5]`},
		{`performance.getEntries().map((e) => e.name).join()`, `p,n,a,m,o`},
		// User Timing, section 3.1.3: options without members leave the third argument its meaning.
		{`performance.measure("m", {}, "a").duration`, `5`},
		{`performance.measure("m", "none")`, `{"name":"m","entryType":"measure","startTime":0,"duration":1000040}`},
		{`[{ start: 1, end: 2, duration: 3 }, { duration: 3 }, { detail: 1 }].map((o) => { try { performance.measure("m", o) } catch (e) { return e.name } })`, `["TypeError","TypeError","TypeError"]`},
		{`[() => performance.measure("m", { start: 1 }, 2), () => performance.mark(), () => new PerformanceMark(), () => performance.mark(Symbol())].map((f) => { try { f() } catch (e) { return e.name } })`, `["TypeError","TypeError","TypeError","TypeError"]`},
		{`performance.mark("a", { startTime: -1 }).startTime`, `-1`}, // User Timing refuses it
		{`(() => { performance.clearMarks("a"); performance.clearMeasures(); return [performance.getEntries().length, performance instanceof EventTarget, Navigator.name, navigator instanceof Navigator] })()`, `[0,true,"Navigator",true]`},
		{`new Promise((ok) => { performance.addEventListener("x", () => ok("heard")); performance.dispatchEvent(new Event("x")) })`, `heard`},
	})
}
