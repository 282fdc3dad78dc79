package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/result"
)

const twoFrames = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  fetch() {
    const [client, server] = Object.values(new WebSocketPair());
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }
  async webSocketMessage(from, text) {
    from.send("one");
    from.send("two");
    await scheduler.wait(50); // so that the frame to the others has a point of its own
    for (const peer of this.ctx.getWebSockets()) if (peer !== from) peer.send("seen " + text);
  }
}
export default { fetch: (request, env) => env.ROOM.getByName("r").fetch(request) };`

const lateFrames = `import { scenario } from "minido:chaos";
export default scenario("frames", {
  async drive({ connect, clock }) {
    const a = await connect("/"), b = await connect("/");
    await a.send("x");
    const seen = await b.receive();
    const then = clock.now();
    const one = await a.receive(), took = clock.now() - then, two = await a.receive();
    return { order: [seen.text, one.text, two.text], took, after: clock.now() - then };
  },
  check({ result, expect }) {
    expect(result.order).toEqual(["seen x", "one", "two"]);
    expect(result.after >= 400, "the second frame is late").toBe(LATE2);
    expect(result.took >= 400, "the first frame is late").toBe(LATE1);
  },
});`

// A delayed frame comes later, what its socket gets after it stays behind it, and other
// sockets do not wait: in a simulation each time in the same way, and with real processes.
func TestDelayedFrames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ plan, late1, late2 string }{
		{"none", "false", "false"},
		{"delay(900ms)@frame:before(Room/r)/message#1", "true", "true"},
		{"delay(900ms)@frame:before(Room/r)/message#2", "false", "true"},
	} {
		drive := strings.NewReplacer("LATE1", c.late1, "LATE2", c.late2).Replace(lateFrames)
		dir := project(t, map[string]string{"worker.js": twoFrames, "drive.chaos.ts": drive, "wrangler.json": `{"name": "frames", "main": "worker.js", "compatibility_date": "2026-08-01",
			"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Room"]}]}`})
		for _, flags := range [][]string{{"--mode", "sim", "--runs", "20"}, {"--mode", "process"}} {
			r, out := campaignBy(t, exec.Command(minido, append([]string{"chaos", "replay", dir, "--plan", c.plan}, flags...)...))
			if r.Code != chaos.Pass {
				t.Errorf("%s %v: code %d\n%s", c.plan, flags, r.Code, out)
			}
			for _, one := range r.Cases {
				if one.Outcome != result.Passed || one.Refused || one.Digest != r.Cases[0].Digest {
					t.Errorf("%s %v: %+v", c.plan, flags, one)
				}
			}
		}
	}
}

// Frames that come later move what clients do against alarms, as slower clients would: that is
// no finding.
func TestDelayedFramesMoveClients(t *testing.T) {
	t.Parallel()
	r, out := campaignOf(t, "enumerate", fixture(t, "relay"), "--mode", "sim", "--fault", "delay(2s)")
	compared := 0
	for _, c := range r.Cases {
		if c.Outcome == result.Violated {
			t.Errorf("%s: %v", c.Name, c.Violations)
		}
		if strings.Contains(c.Name, "@frame:") && c.Uncompared == "" {
			compared++
		}
	}
	if compared == 0 {
		t.Errorf("nothing was compared\n%s", out)
	}
}
