package vitest

import (
	"path"
	"path/filepath"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// placeInStack is a line of a stack whose file is relative.
var placeInStack = lazyregexp.New(`(?m)^(\s*at (?:.*?\(|async )?)([^():\s/\\][^():]*\.[^():]*)(:\d+:\d+\)?)$`)

// placed has the places of an answer begin at the report's directory. The worker, whose code
// the stacks are of, has them begin at its own, where its wrangler file is.
func (p *project) placed(a *answer) {
	under, err := filepath.Rel(p.options.Dir, p.worker.Dir)
	if err != nil || under == "." {
		return // on another volume: what the worker says is all that is known
	}
	under = filepath.ToSlash(under)
	move := func(text string) string {
		return placeInStack.ReplaceAllStringFunc(text, func(line string) string {
			m := placeInStack.FindStringSubmatch(line)
			return m[1] + path.Join(under, m[2]) + m[3]
		})
	}
	errors := func(list []Error) {
		for i := range list {
			list[i].Stack, list[i].Cause = move(list[i].Stack), move(list[i].Cause)
		}
	}
	var tasks func(t *Task)
	tasks = func(t *Task) {
		errors(t.Errors)
		for i := range t.Tasks {
			tasks(t.Tasks[i])
		}
	}
	if a.File != nil {
		tasks(a.File)
	}
	errors(a.Unhandled)
	if strings.Contains(a.Fatal, "\n") {
		a.Fatal = move(a.Fatal)
	}
}
