package minidotest

import "testing"

// stub.id is the very id that the stub was got by, and a timer of more than
// 2^31-1 ms waits, also among Node's globals: workerd's answers, not Node's.
func TestStubIdentityAndLongTimers(t *testing.T) {
	w := NewWorldFrom(t, map[string]string{"worker.js": `
export class D {}
export default { async fetch(request, env) {
	const ids = [env.D.newUniqueId(), env.D.idFromName("a")];
	const log = [];
	const timers = [2 ** 31, Infinity].map((ms) => setTimeout(() => log.push(ms), ms));
	await new Promise((resolve) => setTimeout(resolve, 5));
	timers.forEach(clearTimeout);
	return Response.json([ids.map((id) => env.D.get(id).id === id), typeof timers[0], log]);
} };`,
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "compatibility_flags": ["nodejs_compat"],
			"durable_objects": {"bindings": [{"name": "D", "class_name": "D"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["D"]}]}`}, Options{})
	r := w.Do("GET", "http://localhost/", "")
	if want := `[[true,true],"object",[]]`; r.Err != nil || r.Body != want {
		t.Fatal(r.Status, r.Err, r.Body, "want", want)
	}
}
