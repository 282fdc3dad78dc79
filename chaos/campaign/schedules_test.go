package campaign

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/result"
)

// overtaking is a worker whose object tells another one of each change in the
// background: an order in which the older one comes last leaves it there.
const overtaking = `import { DurableObject } from "cloudflare:workers";
	export class Show extends DurableObject {
	  constructor(ctx, env) { super(ctx, env); ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS shown (id INTEGER PRIMARY KEY, version INTEGER)"); }
	  show(version) { this.ctx.storage.sql.exec("INSERT INTO shown VALUES (1, ?1) ON CONFLICT DO UPDATE SET version = ?1 WHERE CONDITION", version); }
	}
	export default { async fetch(request, env, ctx) {
	  ctx.waitUntil(env.SHOW.getByName("s").show(Number(new URL(request.url).pathname.slice(1))));
	  return new Response("told");
	} };`

func overtakingOptions(t *testing.T, condition string) Options {
	t.Helper()
	return ordersOptions(t, strings.Replace(overtaking, "CONDITION", condition, 1), "POST /1", "POST /2")
}

// ordersOptions are of a worker with an object Show whose clients send requests.
func ordersOptions(t *testing.T, worker string, requests ...string) Options {
	t.Helper()
	o := workerOptions(t, worker, "Show", requests...)
	o.Schedules, o.OnePace = 20, true
	return o
}

// A message that overtakes an older one is found, replayed by its plan alone, and the
// same orders are run each time; a worker that compares versions is not accused.
func TestSchedules(t *testing.T) {
	ctx := context.Background()
	bad, err := Enumerate(ctx, overtakingOptions(t, "true"), 1)
	if err != nil || bad.Code != 1 || bad.Schedules == 0 {
		t.Fatalf("code %d, %d orders, %v", bad.Code, bad.Schedules, err)
	}
	again, err := Enumerate(ctx, overtakingOptions(t, "true"), 1)
	if err != nil {
		t.Fatal(err)
	}
	names := func(r result.Report) (out []string) {
		for _, c := range r.Cases {
			out = append(out, c.Name+" "+string(c.Outcome)+" "+c.Digest)
		}
		return out
	}
	if !slices.Equal(names(bad), names(again)) {
		t.Errorf("the same seed ran\n%q\n%q", names(bad), names(again))
	}
	failed := bad.Failed()
	for _, c := range failed {
		if !c.Order {
			t.Errorf("%s fails without another order", c.Name)
		}
	}
	plan, err := fault.ParsePlan(failed[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	o := overtakingOptions(t, "true")
	o.Schedules = 0
	if r, err := Replay(ctx, o, plan, 3); err != nil || len(r.Failed()) != 3 {
		t.Errorf("%s fails in %d of 3 replays, %v", plan, len(r.Failed()), err)
	}
	good, err := Enumerate(ctx, overtakingOptions(t, "?1 > version"), 1)
	if err != nil || good.Code != 0 || good.Schedules == 0 {
		t.Errorf("a correct worker: code %d, %d orders, %v: %v", good.Code, good.Schedules, err, good.Failed())
	}
}

// An order of messages that is compared with nothing, since what is done at once may be
// done in too many orders, says so, and that the oracle has not judged it.
func TestTooManyOrders(t *testing.T) {
	many := strings.Replace(strings.Replace(overtaking, "CONDITION", "true", 1),
		"ctx.waitUntil(env.SHOW.getByName(\"s\").show(Number(new URL(request.url).pathname.slice(1))))",
		"await Promise.all([1, 2, 3, 4, 5, 6, 7].map((n) => env.SHOW.getByName(\"s\").show(n)))", 1)
	o := ordersOptions(t, many, "POST /1", "POST /2", "POST /3", "POST /4")
	o.Schedules = 2
	r, err := Enumerate(context.Background(), o, 1)
	if err != nil || r.Schedules == 0 {
		t.Fatalf("%d orders, %v", r.Schedules, err)
	}
	told := r.Uncompared()
	if len(told) != 1 || !strings.HasPrefix(told[0], fmt.Sprintf("%d not compared with runs without faults: what it does at once", r.Schedules)) {
		t.Errorf("of %d orders: %q", r.Schedules, told)
	}
	for _, c := range r.Cases {
		if c.Order == slices.Contains(c.Checkers, differential) || c.Order != (c.Uncompared != "") {
			t.Errorf("%s: checked by %v, not compared because %q", c.Name, c.Checkers, c.Uncompared)
		}
	}
}
