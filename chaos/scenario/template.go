package scenario

import (
	"fmt"
	"strings"
)

// Template is a first scenario for a project with these classes.
func Template(project string, classes []string, agents bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, `// What %s must survive. Run it with: minido chaos enumerate
import { agent, scenario, sometimes } from "minido:chaos";

`, project)
	fmt.Fprintf(&b, "const subject = agent(%q, \"a1\");", classes[0])
	if len(classes) > 1 {
		fmt.Fprintf(&b, " // others: %s", strings.Join(classes[1:], ", "))
	}
	b.WriteString("\n\n")
	fmt.Fprintf(&b, "export default scenario(%q, {\n  // vars: { STEP_MS: 50 }, // make the work short: a run should take about a second\n  async drive({ rpc, fetch, until }) {\n", project+" survives")
	if agents {
		b.WriteString("    // A @callable method of the agent, or chat(subject, \"hello\") for an AIChatAgent.\n    await rpc(subject, \"start\", [\"tides\"]);\n")
	} else {
		b.WriteString("    await fetch(\"POST\", \"/\", { hello: \"world\" });\n")
	}
	b.WriteString("    // await until(() => rpc(subject, \"isDone\"), { within: \"30s\" });\n  },\n")
	fmt.Fprintf(&b, `  check({ db, history, expect }) {
    // The object's tables at rest; fibers, alarms and databases are checked in any case.
    // expect(db(%q, "a1").all("SELECT * FROM jobs WHERE status != 'done'")).toEqual([]);
    sometimes("killed at all", history.kills.length > 0);
  },
});
`, classes[0])
	return b.String()
}
