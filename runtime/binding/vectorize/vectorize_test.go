package vectorize_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

var project = map[string]string{
	"w.js": `export default { async fetch(request, env) {
  const run = new Map(Object.entries({
    shape: () => [env.V.constructor.name, Object.keys(env.V)],
    empty: async () => [await env.V.describe(), await env.V.query([1, 2]), await env.V.getByIds(["a"])],
    fill: async () => Object.keys(await env.V.insert([
      { id: "a", values: [1, 0], metadata: { kind: "cat", age: 3, deep: { tag: "x" } } },
      { id: "b", values: new Float32Array([0, 2]), namespace: "n", metadata: { kind: "dog", age: 5 } },
      { id: "c", values: [1, 1] },
    ])),
    describe: async () => { const d = await env.V.describe(); return [d.vectorCount, d.dimensions, typeof d.processedUpToMutation, d.processedUpToDatetime.length]; },
    query: () => env.V.query([1, 0]),
    all: () => env.V.query([1, 0], { topK: 2, returnValues: true, returnMetadata: true }),
    space: () => env.V.query([1, 0], { namespace: "n", returnMetadata: "indexed" }),
    eq: () => ids({ kind: "cat" }), ne: () => ids({ kind: { $ne: "cat" } }), deep: () => ids({ "deep.tag": "x" }),
    range: () => ids({ age: { $gte: 4, $lt: 6 } }), in: () => ids({ kind: { $in: ["dog", "fox"] } }), nin: () => ids({ kind: { $nin: ["dog"] } }),
    byId: () => env.V.queryById("b", { topK: 1 }), get: () => env.V.getByIds(["c", "none", "b"]),
    again: async () => { await env.V.insert([{ id: "a", values: [9, 9] }]); return (await env.V.getByIds(["a"]))[0].values; },
    upsert: async () => { await env.V.upsert([{ id: "a", values: [0.5, 0.25] }]); return env.V.getByIds(["a"]); },
    remove: async () => { await env.V.deleteByIds(["b"]); return ids(); },
    wide: () => env.V.insert([{ id: "w", values: [1, 2, 3] }]), narrow: () => env.V.query([1]),
    long: () => env.V.upsert([{ id: "x".repeat(65), values: [1, 2] }]), many: () => env.V.query([1, 0], { topK: 51, returnValues: true }),
    level: () => env.V.query([1, 0], { returnMetadata: "some" }), no: () => env.V.query([1, 0], { returnMetadata: false }),
    none: () => env.V.insert(), number: () => env.V.insert([{ id: 5, values: [1, 2] }]), operator: () => ids({ a: { $like: "x" } }),
  }));
  const ids = async (filter) => (await env.V.query([1, 0], { filter })).matches.map((m) => m.id).join("");
  try { return Response.json(await run.get(new URL(request.url).pathname.slice(1))()); } catch (e) { return new Response(e.name + ": " + e.message + (e.cause ? " / " + e.cause.message : "")); }
} };`,
	"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "vectorize": [{"binding": "V", "index_name": "things"}]}`,
}

const root2 = "0.7071067811865475"

var answers = [][2]string{
	{"shape", `["VectorizeIndexImpl",["fetcher","indexId","indexVersion","useNdJson"]]`},
	{"empty", `[{"dimensions":0,"vectorCount":0},{"count":0,"matches":[]},[]]`},
	{"fill", `["mutationId"]`},
	{"describe", `[3,2,"string",24]`},
	{"query", `{"count":3,"matches":[{"id":"a","score":1},{"id":"c","score":` + root2 + `},{"id":"b","score":0,"namespace":"n"}]}`},
	{"all", `{"count":2,"matches":[{"id":"a","score":1,"values":[1,0],"metadata":{"kind":"cat","age":3,"deep":{"tag":"x"}}},{"id":"c","score":` + root2 + `,"values":[1,1]}]}`},
	{"space", `{"count":1,"matches":[{"id":"b","score":0,"namespace":"n","metadata":{"kind":"dog","age":5}}]}`},
	{"eq", `"a"`}, {"ne", `"cb"`}, {"deep", `"a"`}, {"range", `"b"`}, {"in", `"b"`}, {"nin", `"ac"`},
	{"byId", `{"count":1,"matches":[{"id":"b","score":1,"namespace":"n"}]}`},
	{"get", `[{"id":"c","values":[1,1]},{"id":"b","values":[0,2],"namespace":"n","metadata":{"kind":"dog","age":5}}]`},
	{"again", `[1,0]`},
	{"upsert", `[{"id":"a","values":[0.5,0.25]}]`},
	{"remove", `"ac"`},
	{"wide", `Error: VECTOR_INSERT_ERROR (code = 40012): invalid vector for id="w", expected 2 dimensions, and got 3 dimensions / invalid vector for id="w", expected 2 dimensions, and got 3 dimensions`},
	{"narrow", `Error: VECTOR_QUERY_ERROR (code = 40006): invalid query vector, expected 2 dimensions, and got 1 dimensions / invalid query vector, expected 2 dimensions, and got 1 dimensions`},
	{"long", `Error: VECTOR_UPSERT_ERROR (code = 40008): id too long; max is 64 bytes, got 65 bytes / id too long; max is 64 bytes, got 65 bytes`},
	{"many", `Error: VECTOR_QUERY_ERROR (code = 40025): with returnValues=true or returnMetadata=all, max top K is 50, but got 51 / with returnValues=true or returnMetadata=all, max top K is 50, but got 51`},
	{"level", `Error: Invalid returnMetadata option. Expected: true, false, "none", "indexed" or "all"; got: some`},
	{"no", `Error: VECTOR_QUERY_ERROR (code = 40026): Failed to parse the request body as JSON: returnMetadata: expected value / Failed to parse the request body as JSON: returnMetadata: expected value`},
	{"none", `TypeError: Cannot read properties of undefined (reading 'map')`},
	{"number", `Error: VECTOR_INSERT_ERROR (code = 40023): failed to parse insert vectors request / failed to parse insert vectors request`},
	{"operator", `Error: VECTOR_QUERY_ERROR: invalid filter: there is no operator "$like" / invalid filter: there is no operator "$like"`},
}

// The methods give what the service's documentation says, refusals have the texts
// that the service is known to give, and the index is there after a restart.
func TestIndex(t *testing.T) {
	w := minidotest.NewWorldFrom(t, project, minidotest.Options{})
	for _, a := range answers {
		if got := w.Do("GET", "http://localhost/"+a[0], "").Body; got != a[1] {
			t.Errorf("%s: %s\nwant %s", a[0], got, a[1])
		}
	}
	w = w.Restart()
	if got := w.Do("GET", "http://localhost/query", "").Body; !strings.Contains(got, `"count":2`) {
		t.Errorf("after a restart: %s", got)
	}
}

// A death before a mutation leaves none of it, one after it all of it.
func TestKills(t *testing.T) {
	for label, want := range map[string]string{"store:before(VECTORIZE/things)/insert#1": "0", "store:after(VECTORIZE/things)/insert#1": "3"} {
		w := minidotest.NewWorldFrom(t, project, minidotest.Options{Kill: func(p killpoint.Point) bool { return p.Label() == label }})
		r := w.Send("GET", "http://localhost/fill", "")
		if err := w.Until(r.Done); !errors.Is(err, minidotest.ErrKilled) {
			t.Fatalf("%s: %v, %s", label, err, r.Body)
		}
		w = w.Revive()
		var found struct{ Count json.Number }
		if err := json.Unmarshal([]byte(w.Do("GET", "http://localhost/query", "").Body), &found); err != nil || found.Count.String() != want {
			t.Errorf("%s: %v vectors, want %s (%v)", label, found.Count, want, err)
		}
	}
}
