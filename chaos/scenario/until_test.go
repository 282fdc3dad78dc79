package scenario

import (
	"testing"
	"time"

	"minido.dev/minido/chaos/check"
)

// What until() waits for in vain it asks less and less often: a worker that no longer answers
// does not cost a campaign thousands of requests for each death. A busy machine asks even less.
func TestUntilAsksLessOften(t *testing.T) {
	s, d := driven(t, `
import { scenario } from "minido:chaos";
let asked = 0;
export default scenario("it waits", {
  async drive({ until }) { await until(async () => { asked++; return false; }, { within: "3s" }).catch(() => {}); },
  check({ expect }) { expect(asked).toBeGreaterThan(1); expect(asked).toBeLessThan(90); },
});`, time.Minute)
	if found, _, err := s.Check(d, check.Evidence{}); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}
