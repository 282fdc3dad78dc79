package minidotest

import "testing"

// The then() of what a worker's async function awaits, returns or resolves a promise with
// is called with the AsyncLocalStorage values of that code, as in workerd.
func TestAsyncContextOfThenables(t *testing.T) {
	w := NewWorldFrom(t, map[string]string{
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-01-01", "compatibility_flags": ["nodejs_compat"]}`,
		"worker.js": `import { AsyncLocalStorage } from "node:async_hooks";
const als = new AsyncLocalStorage();
export default { async fetch() {
  const said = [], say = (where) => said.push(where + " " + als.getStore());
  const thenable = (where) => ({ then(done) { say(where); done(); } });
  await als.run("A", async () => { await thenable("await"); say("then"); });
  await als.run("B", async () => thenable("return"));
  await als.run("C", () => Promise.resolve(thenable("resolve")).then(() => say("then")));
  const late = als.run("D", async () => { await scheduler.wait(1); await thenable("late"); });
  await als.run("E", () => scheduler.wait(5));
  await late;
  say("after");
  return new Response(said.join());
} };`}, Options{})
	if r := w.Do("GET", "http://localhost/", ""); r.Body != "await A,then A,return B,resolve C,then C,late D,after undefined" {
		t.Error(r.Status, r.Body)
	}
}
