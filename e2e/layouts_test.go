package e2e

import (
	"strings"
	"testing"

	"minido.dev/minido/chaos/process"
)

// everywhere is a worker that goes through all that minido looks into goja for, and
// answers what does not depend on it.
const everywhere = `export default { async fetch(request) {
  const out = [];
  out.push(JSON.stringify(JSON.parse('{"a":[1,2.5,"x","\u00e9",null,true,{}],"b":{"c":-0}}')), JSON.stringify({ d: new Date(0), n: [undefined] }));
  out.push(structuredClone({ list: [1, , 3], map: new Map([[1, { two: 2 }]]), bytes: new Uint8Array([1, 2]) }).map.get(1).two);
  out.push("a1b22".replace(/(\d+)/g, "<$1>"), "x-y".split(/-/).length, /(?<year>\d+)/.exec("in 2026").groups.year);
  out.push([3, 1, 2].sort((a, b) => a - b).join(), new Uint8Array([3, 1]).sort().join(), [1, [2, [3]]].flat(2).join());
  try { null.x } catch (e) { out.push(e instanceof TypeError, typeof e.stack) }
  try { new ArrayBuffer(1, { maxByteLength: 8 }).resize(4); out.push("") } catch (e) { out.push("") }
  if (typeof Float16Array === "function") new Float16Array([1.5]).fill(2);
  const keys = new Map([[1, 2]]).keys();
  keys.next();
  console.log(keys, Object.assign([1], { more: 2 }), new Error("shown"), [1, 2, 3].values());
  let text = "joined";
  for (let i = 0; i < 16; i++) text += text;
  out.push(text.length, parseInt("12px"), new Date("2024-02-29T23:59:59Z").getTime(), Math.cbrt(27));
  out.push(await new Response(new Blob(["through"]).stream().pipeThrough(new TransformStream()).pipeThrough(new CompressionStream("gzip")).pipeThrough(new DecompressionStream("gzip"))).text());
  await Promise.resolve();
  return new Response(out.join("|"));
} }`

// A server whose goja is otherwise than expected in one place starts, says by name
// what is lost, and serves.
func TestPlantedLayouts(t *testing.T) {
	bin := plantedMinido(t)
	dir := project(t, map[string]string{
		"wrangler.json": `{"name": "everywhere", "main": "main.js", "compatibility_date": "2026-01-01"}`,
		"main.js":       everywhere,
	})
	answer := func(t *testing.T, member string) (body, log string) {
		s, err := launch(t, process.Options{
			Command: []string{bin, "dev", "--ip", "127.0.0.1", "--port", "0", "-c", dir + "/wrangler.json", "--persist-to", t.TempDir()}, Env: []string{"MINIDO_PLANTED_LAYOUT=" + member},
		})
		if err != nil {
			t.Fatal(err)
		}
		status, body := ask(t, "GET", s.url)
		if status != 200 {
			t.Fatal(status, body)
		}
		return body, s.Output()
	}
	sound, log := answer(t, "")
	if strings.Contains(log, "layout of") {
		t.Fatalf("something is unknown:\n%s", log)
	}
	for part, member := range map[string]string{
		"goja's virtual machine": "goja.vm.stack", "goja's values": "goja.arrayObject.values", "goja's frames": "goja.StackFrame.funcName", "Go's maps": "the group of a map",
		"goja's views": "goja.arrayBufferObject.data", "goja's typed arrays": "goja.typedArray.getRaw", "goja's iterators": "goja.orderedMapIter.cur",
		"goja's names of properties": "goja.baseObject.propNames", "goja's regular expressions": "goja.regexpObject.standard", "goja's instructions": "goja.concatStrings", "goja's promises": "goja.Promise.handled", "goja's thenables": "goja.Runtime.jobQueue",
	} {
		t.Run(member, func(t *testing.T) {
			body, log := answer(t, member)
			if body != sound {
				t.Errorf("answers %s\nand when all is known %s", body, sound)
			}
			if want := "the layout of " + part + " is unknown (" + member + " is not as expected): "; !strings.Contains(log, want) {
				t.Errorf("the log lacks %q", want)
			}
		})
	}
}
