package check

// integrity: SQLite finds no damage in any database at rest.
type integrity struct{}

func (integrity) Name() string { return "integrity" }

func (integrity) Doc() Doc {
	return Doc{"every database", []Invariant{{"database-whole", "SQLite finds no damage at rest"}}}
}

func (integrity) Applies(Evidence) bool { return true }

func (c integrity) Check(e Evidence) []Violation {
	var out []Violation
	for _, d := range e.Rest.Damaged {
		out = append(out, Violation{c.Name(), "database-whole", d})
	}
	return out
}
