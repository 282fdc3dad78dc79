package campaign

import (
	"fmt"
	"strings"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/history"
)

// achieved is what became of the steps of the clients in a run: requests, calls, chat turns
// and sockets that they opened, but for questions that are asked until the answer is liked.
type achieved struct {
	steps, failed int
	first         string // the first that failed
	broken        int    // of failed, those with a status of 500 or more, and calls that threw
	firstBroken   string
}

func (a *achieved) fail(text string, broken bool) {
	a.failed++
	if a.first == "" {
		a.first = text
	}
	if !broken {
		return
	}
	a.broken++
	if a.firstBroken == "" {
		a.firstBroken = text
	}
}

// achievedIn reads a history.
func achievedIn(events []history.Event) (a achieved) {
	questions := map[string]bool{}
	for _, e := range events {
		ofSocket := strings.HasPrefix(e.Who, history.SocketPrefix)
		switch {
		case e.Kind == history.Call:
			questions[e.Op] = e.Until
			if !e.Until {
				a.steps++
			}
		case e.Kind == history.Connect && ofSocket:
			a.steps++
		case e.Kind == history.Fail && ofSocket:
			a.steps++
			a.fail(e.Text, false)
		case e.Kind == history.Fail && !questions[e.Op]:
			text := e.Text
			if len(e.Data) > 0 {
				text += ": " + string(e.Data)
			}
			a.fail(text, e.Who != "client" || strings.Contains(e.Text, ": status 5"))
		case e.Kind == history.Unknown && !questions[e.Op]:
			a.fail(e.Text+": no answer came", true)
		}
	}
	return a
}

// proves says whether clients whose run without a fault was r can show what a fault does.
// Whoever asks nothing that succeeds is compared with nothing.
func (c *campaign) proves(r Case) error {
	a := r.achieved
	if a.failed == 0 || a.failed < a.steps || c.FailingSteps {
		if a.broken > 0 {
			c.warn(fmt.Sprintf("without any fault %d of the clients' %d steps had an error, and what that leaves undone is not tested; the first is %s", a.broken, a.steps, a.firstBroken))
		}
		return nil
	}
	which := fmt.Sprintf("each of the clients' %d steps fails; the first is", a.steps)
	if a.steps == 1 {
		which = "the clients' only step fails:"
	}
	return &chaos.UsageError{Text: fmt.Sprintf("without any fault, %s %s\nFaults would show nothing. Mend the steps, or the worker; if they are meant to fail, give --failing-steps. The evidence is in %s", which, a.first, r.Dir)}
}

// warn adds a warning to the report, once.
func (c *campaign) warn(text string) {
	for _, known := range c.report.Warnings {
		if known == text {
			return
		}
	}
	c.report.Warnings = append(c.report.Warnings, text)
}
