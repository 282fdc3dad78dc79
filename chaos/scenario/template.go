package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// Template is a first scenario for a project with these classes, one at least. It
// runs as it stands if the source has told how the class is used.
func Template(project string, classes []Class) string {
	subject := classes[0]
	if i := slices.IndexFunc(classes, func(c Class) bool { return c.Chat || len(c.Callable) > 0 }); i >= 0 {
		subject = classes[i]
	}
	var others []string
	for _, c := range classes {
		if c.Name != subject.Name {
			others = append(others, c.Name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// What %s must survive. Run it with: minido chaos enumerate\n", project)
	fmt.Fprintf(&b, "import { agent, scenario, sometimes } from \"minido:chaos\";\n\nconst subject = agent(%q, \"a1\");", subject.Name)
	if len(others) > 0 {
		fmt.Fprintf(&b, " // others: %s", strings.Join(others, ", "))
	}
	fmt.Fprintf(&b, "\n\nexport default scenario(%q, {\n", project+" survives")
	b.WriteString("  // vars: { STEP_MS: 50 }, // make the work short: a run should take about a second\n")
	uses := "fetch"
	switch {
	case subject.Chat:
		uses = "chat, rpc"
		b.WriteString("  ai: true, // a scripted model answers for env.AI, OpenAI and Anthropic\n")
	case len(subject.Callable) > 0:
		uses = "rpc"
	}
	fmt.Fprintf(&b, "  async drive({ %s }) {\n", uses)
	switch uses {
	case "chat, rpc":
		b.WriteString("    await chat(subject, \"hello\");\n")
	case "rpc":
		fmt.Fprintf(&b, "    await %s;\n", call(subject.Callable[0]))
	default:
		b.WriteString("    // The request that has the object do its work.\n    await fetch(\"POST\", \"/\", { hello: \"world\" });\n")
	}
	for i, m := range subject.Callable {
		if subject.Chat || i > 0 {
			fmt.Fprintf(&b, "    // await %s;\n", call(m))
		}
	}
	fmt.Fprintf(&b, `  },
  check({ db, history, expect }) {
    // The object's tables at rest; fibers, alarms and databases are checked in any case.
    // expect(db(%q, "a1").all("SELECT * FROM jobs WHERE status != 'done'")).toEqual([]);
    sometimes("killed at all", history.kills.length > 0);
  },
});
`, subject.Name)
	return b.String()
}

// call is the source of a call of m by a client.
func call(m Method) string {
	if len(m.Args) == 0 {
		return fmt.Sprintf("rpc(subject, %q)", m.Name)
	}
	return fmt.Sprintf("rpc(subject, %q, [%s])", m.Name, strings.Join(m.Args, ", "))
}
