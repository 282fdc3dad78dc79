package oracle

import "testing"

// A step that a Workflow takes only after a fault is a finding, whatever it has stored; one
// that it does not take again, more or fewer rounds, and the steps of an instance in which one
// failed are not.
func TestSteps(t *testing.T) {
	instance := func(status string, steps ...string) State {
		statements := []string{"CREATE TABLE instance (status TEXT)", "INSERT INTO instance VALUES ('" + status + "')", "CREATE TABLE steps (key TEXT, state TEXT)"}
		for _, step := range steps {
			statements = append(statements, "INSERT INTO steps VALUES ("+step+")")
		}
		return database(t, "workflows/minido-workflow-f", statements...)
	}
	const open, poll, charge = "'do:open-1', 'done'", "'do:poll 1-1', 'done'", "'do:charge-1', 'done'"
	want := instance("complete", open, poll, charge)
	m := Learn([]State{want}, nil, nil)
	for _, c := range []struct {
		name string
		got  State
		want string
	}{
		{"the same", instance("complete", open, poll, charge), ""},
		{"more rounds", instance("complete", open, poll, "'do:poll 2-1', 'done'", charge), ""},
		{"one that was done", instance("complete", open, poll), ""},
		{"another way", instance("complete", open, poll, "'do:reject-1', 'done'"), Orphaned},
		{"another way after a failure", instance("complete", open, "'do:poll 1-1', 'failed'", "'do:reject-1', 'done'"), ""},
		{"on its way", instance("running", open, "'do:reject-1', 'running'"), ""},
		{"none", world(), ""},
	} {
		if kind, diff := Judge(c.got, []State{want}, m, false); kind != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, kind, diff, c.want)
		}
	}
}
