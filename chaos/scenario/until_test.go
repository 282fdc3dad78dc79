package scenario

import (
	"context"
	"testing"
	"time"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// What until() waits for in vain it asks less and less often: a worker that no longer answers
// does not cost a campaign thousands of requests for each death. A busy machine asks even less.
func TestUntilAsksLessOften(t *testing.T) {
	s, err := load(t, `
import { scenario } from "minido:chaos";
let asked = 0;
export default scenario("it waits", {
  async drive({ until }) { await until(async () => { asked++; return false; }, { within: "3s" }).catch(() => {}); },
  check({ expect }) { expect(asked).toBeLessThan(90); },
});`)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Driver()
	if err != nil {
		t.Fatal(err)
	}
	scheduler := sched.NewThreads(clock.Real{})
	if err := d.Run(context.Background(), drive.NewSession(history.NewRecorder(clock.Real{}, nil), scheduler, time.Minute)); err != nil {
		t.Fatal(err)
	}
	if found, _, err := s.Check(d, check.Evidence{}); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	if err := scheduler.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
