package e2e

import (
	"encoding/json"
	"fmt"
	"minido.dev/minido/internal/golden"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lookedAt finds what a person could not read or use in a page: text that is cut or lies
// outside of the window and cannot be scrolled to, controls that overlap, text whose
// contrast is below WCAG's AA, controls without a name, and places that scroll and are
// out of reach of the keyboard.
const lookedAt = `(() => {
	const wrong = [], seen = new Set();
	const say = (what, e) => {
		const line = what + ": <" + e.tagName.toLowerCase() + (e.className ? " class=" + e.className : "") + "> " + (e.getAttribute("aria-label") || e.textContent || e.value || "").trim().slice(0, 60);
		if (!seen.has(line)) { seen.add(line); wrong.push(line); }
	};
	const visible = e => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && e.getBoundingClientRect().width > 1 && e.getBoundingClientRect().height > 1 && !e.closest(".hidden");
	const scrolls = (e, axis) => { const s = getComputedStyle(e)["overflow" + axis]; return s === "auto" || s === "scroll"; };
	const modal = document.querySelector("dialog[open]");
	const all = [...(modal ?? document.body).querySelectorAll("*")].filter(visible);
	const wide = document.documentElement.clientWidth, high = document.documentElement.clientHeight;
	if (document.documentElement.scrollWidth > wide + 1) wrong.push("the page is " + document.documentElement.scrollWidth + " px wide, the window " + wide);

	// Where an element can be seen: within all that clips it. Behind what scrolls it is in reach.
	const clipped = e => {
		const r = e.getBoundingClientRect();
		let x = false, y = false; // somebody can scroll there
		for (let up = e.parentElement; up; up = up.parentElement) {
			x ||= scrolls(up, "X"), y ||= scrolls(up, "Y");
			const s = getComputedStyle(up), box = up.getBoundingClientRect();
			if (s.overflowX !== "visible" && !x && (r.right > box.right + 1.5 || r.left < box.left - 1.5)) return true;
			if (s.overflowY !== "visible" && !y && (r.bottom > box.bottom + 1.5 || r.top < box.top - 1.5)) return true;
		}
		return !x && (r.right > wide + 1 || r.left < -1);
	};
	const textOf = e => [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent).join("").trim();
	const controls = all.filter(e => e.matches("button, input, select, textarea, a[href], summary"));
	for (const e of all) {
		// A cell's text may end in dots: its whole is in the details, or in a title.
		if ((textOf(e) || e.matches("input, select, textarea, button")) && clipped(e) && !e.closest("[role=cell], [role=columnheader], td, th")) say("cut", e);
	}
	const hit = e => {
		const r = e.getBoundingClientRect(), x = r.left + r.width / 2, y = r.top + Math.min(r.height / 2, 12);
		if (x < 0 || y < 0 || x >= wide || y >= high) return; // scrolled away
		const at = document.elementFromPoint(x, y);
		if (!at || at === e || e.contains(at) || at.contains(e) || at.closest("label")?.contains(e)) return;
		for (let up = e.parentElement; up; up = up.parentElement) { // it may be scrolled out of its place
			const box = up.getBoundingClientRect();
			if (getComputedStyle(up).overflowY !== "visible" && (y < box.top || y > box.bottom || x < box.left || x > box.right)) return;
		}
		say("covered by <" + at.tagName.toLowerCase() + " class=" + at.className + ">", e);
	};
	controls.forEach(hit);
	for (const [i, a] of controls.entries()) for (const b of controls.slice(i + 1)) {
		if (a.contains(b) || b.contains(a)) continue;
		const p = a.getBoundingClientRect(), q = b.getBoundingClientRect();
		const x = Math.min(p.right, q.right) - Math.max(p.left, q.left), y = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
		if (x > 2 && y > 2 && a.offsetParent === b.offsetParent && !a.closest(".list .row") && !b.closest(".list .row")) say("overlaps " + (b.getAttribute("aria-label") ?? b.textContent).slice(0, 40), a);
	}

	const colour = text => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return { r, g, b, a }; };
	const over = (top, under) => ({ r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a), b: top.b * top.a + under.b * (1 - top.a), a: 1 });
	const ground = e => {
		const layers = [];
		for (let up = e; up; up = up.parentElement) {
			const c = colour(getComputedStyle(up).backgroundColor);
			if (c.a > 0) layers.push(c);
			if (c.a === 1) break;
		}
		return layers.reduceRight((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
	};
	const light = c => { const f = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(c.r) + 0.7152 * f(c.g) + 0.0722 * f(c.b); };
	for (const e of all) {
		if (!textOf(e) && !e.matches("input, textarea, select")) continue;
		const under = ground(e), [a, b] = [light(over(colour(getComputedStyle(e).color), under)), light(under)].sort((m, n) => n - m);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < 4.5 && !e.disabled) say("contrast " + ratio.toFixed(2), e);
	}

	for (const e of controls) {
		const name = e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.getAttribute("title") || e.textContent || e.placeholder;
		if (!name?.trim()) say("has no name", e);
		if (e.tabIndex < 0) say("is out of reach of the keyboard", e);
	}
	for (const e of all) {
		if ((scrolls(e, "Y") && e.scrollHeight > e.clientHeight + 2 || scrolls(e, "X") && e.scrollWidth > e.clientWidth + 2) && !e.matches("textarea, select, input") && e.tabIndex < 0 && !e.querySelector("button, a[href], input, select, textarea, [tabindex='0']")) say("scrolls, and no key can reach it", e);
	}
	return JSON.stringify(wrong);
})()`

// look checks a page in wide and narrow windows, in light and dark, and takes pictures of
// it into the directory MINIDO_SHOTS; -update writes those of docs.
func look(t *testing.T, page *browserPage, name string) {
	t.Helper()
	for _, width := range []int{480, 800, 1280} {
		page.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false}, nil)
		for _, dark := range []bool{false, true} {
			page.dark(dark)
			page.until(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`)
			var wrong []string
			if err := json.Unmarshal([]byte(page.eval(lookedAt)), &wrong); err != nil {
				t.Fatal(err)
			}
			scheme := map[bool]string{true: "dark", false: "light"}[dark]
			if len(wrong) > 0 {
				t.Errorf("%s, %d px, %s:\n  %s", name, width, scheme, strings.Join(wrong, "\n  "))
			}
			file := filepath.Join(os.Getenv("MINIDO_SHOTS"), fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
			if golden.Update() && width == 1280 {
				file = filepath.Join("..", "docs", "dashboard", name+"-"+scheme+".png")
			} else if os.Getenv("MINIDO_SHOTS") == "" {
				continue
			}
			if err := os.WriteFile(file, page.screenshot(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	page.call("Emulation.clearDeviceMetricsOverride", nil, nil)
}

// With 10,000 objects the page has elements for those in view alone, and keys go through
// them from the first to the last.
func TestDashboardManyObjects(t *testing.T) {
	page := browse(t)
	_, open := dashboardOf(t, map[string]string{"worker.js": `export default { fetch: () => new Response("ok") }`, "wrangler.json": `{"name": "many", "main": "worker.js", "compatibility_date": "2026-08-01"}`})
	page.visit(open())
	page.until(`document.querySelector("h1")?.innerText === "Durable Objects"`)
	page.eval(`((real) => {
		const objects = Array.from({ length: 10000 }, (_, i) => ({ worker: "many", class: "Room", name: "r" + String(i).padStart(5, "0"), id: i.toString(16).padStart(64, "0"), state: "stored", sockets: 0, alarm_ms: null }));
		window.fetch = (to, how) => String(to).startsWith("/v1/objects") ? Promise.resolve(Response.json({ objects })) : real(to, how);
	})(window.fetch)`)
	page.until(`document.body.innerText.includes("10000 of 10000 objects")`)
	if n := page.eval(`document.querySelectorAll(".row").length`); len(n) > 2 {
		t.Errorf("%s rows are drawn", n)
	}
	page.eval(`document.querySelector(".list .scroll").focus()`)
	page.key("End", "", 35)
	page.until(`document.querySelector("aside h2")?.innerText === "Room/r09999" && document.querySelector(".row[aria-selected=true]")?.innerText.includes("Room/r09999")`)
	page.key("ArrowUp", "", 38)
	page.until(`document.querySelector("aside h2").innerText === "Room/r09998"`)
	took := page.eval(`new Promise(done => {
		const began = performance.now(), search = document.querySelector("input[type=search]");
		search.value = "r0777";
		search.dispatchEvent(new Event("input"));
		requestAnimationFrame(() => requestAnimationFrame(() => done(Math.round(performance.now() - began))));
	})`)
	page.until(`document.body.innerText.includes("10 of 10000 objects")`)
	look(t, page, "many-objects")
	t.Logf("a filter of 10,000 objects is shown after %s ms", took)
}
