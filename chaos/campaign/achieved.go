package campaign

import (
	"fmt"

	"minido.dev/minido/chaos"
)

// proves says whether clients whose run without a fault was r can show what a fault does.
// Whoever asks nothing that succeeds is compared with nothing.
func (c *campaign) proves(r ranCase) error {
	a := r.achieved
	if a.Failed == 0 || a.Failed < a.All || c.FailingSteps {
		if a.Errors > 0 {
			c.report.Warnings = append(c.report.Warnings, fmt.Sprintf("without any fault %d of the clients' %d steps had an error, and what that leaves undone is not tested; the first is %s", a.Errors, a.All, a.FirstError))
		}
		return nil
	}
	which := fmt.Sprintf("each of the clients' %d steps fails; the first is", a.All)
	if a.All == 1 {
		which = "the clients' only step fails:"
	}
	return &chaos.UsageError{Text: fmt.Sprintf("without any fault, %s %s\nFaults would show nothing. Mend the steps, or the worker; if they are meant to fail, give --failing-steps. The evidence is in %s", which, a.First, r.Dir)}
}
