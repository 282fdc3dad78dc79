package durableobject_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// Options that are no objects, dates that kj::Date has not, and a WebSocket in the answer to
// a plain request fail with workerd's texts.
func TestArgumentsOfStorage(t *testing.T) {
	w := minidotest.NewWorker(t, `
export class O extends DurableObject {
  alarm() {}
  fetch() { const [client, server] = Object.values(new WebSocketPair()); server.accept(); return new Response(null, { status: 101, webSocket: client }); }
  async tries() {
    const s = this.ctx.storage, out = [];
    for (const fn of [() => s.get("a", 5), () => s.put("a", 1, 5), () => s.delete("a", "x"), () => s.deleteAll(5), () => s.getAlarm(5), () => s.setAlarm(5e12, 5), () => s.deleteAlarm(5),
      () => s.put({ a: 1 }, 5), () => s.setAlarm(9223372036855), () => s.transaction((x) => x.get("a", 5)), () => s.get("a", null), () => s.get("a", {}), () => s.setAlarm(9223372036854)]) {
      try { out.push(String(await fn())); } catch (e) { out.push(e.message); }
    }
    return out;
  }
}
export default serve({ socket: (env) => env.O.getByName("a").fetch("http://x").then((r) => r.status) });
`, minidotest.Options{})
	w.Want(`{"ok":["Failed to execute 'get' on 'DurableObjectStorage': parameter 2 is not of type 'GetOptions'.",`+
		`"Failed to execute 'put' on 'DurableObjectStorage': parameter 3 is not of type 'PutOptions'.",`+
		`"Failed to execute 'delete' on 'DurableObjectStorage': parameter 2 is not of type 'PutOptions'.",`+
		`"Failed to execute 'deleteAll' on 'DurableObjectStorage': parameter 1 is not of type 'PutOptions'.",`+
		`"Failed to execute 'getAlarm' on 'DurableObjectStorage': parameter 1 is not of type 'GetAlarmOptions'.",`+
		`"Failed to execute 'setAlarm' on 'DurableObjectStorage': parameter 2 is not of type 'SetAlarmOptions'.",`+
		`"Failed to execute 'deleteAlarm' on 'DurableObjectStorage': parameter 1 is not of type 'SetAlarmOptions'.",`+
		`"put() may only be called with a single key-value pair and optional options as put(key, value, options) or with multiple key-value pairs and optional options as put(entries, options)",`+
		`"This API doesn't support dates after 2189.",`+
		`"Failed to execute 'get' on 'DurableObjectTransaction': parameter 2 is not of type 'GetOptions'.",`+
		`"undefined","undefined","undefined"]}`, "O/a/tries")
	w.Want(`{"err":{"name":"TypeError","message":"Worker tried to return a WebSocket in a response to a request which did not contain the header \"Upgrade: websocket\".","remote":true}}`, "!socket")
}
