package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/result"
)

// WriteMarkdown writes the report for a pull request: the verdict, and a section for
// each cause of failures with what was found and the command that replays it.
func WriteMarkdown(w io.Writer, r result.Report) error {
	findings := r.Findings()
	verdict := "passed"
	switch {
	case r.Stopped:
		verdict = "was stopped"
	case r.Code != chaos.Pass:
		verdict = "failed"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### minido chaos %s %s\n\n%d runs, %d kills in %.1f s", r.Verb, verdict, r.Runs()-r.Same, r.Kills, r.Elapsed().Seconds())
	if r.Points > 0 && r.Verb == "enumerate" {
		fmt.Fprintf(&b, ", visited %d of %d points", r.Visited, r.Points)
	}
	fmt.Fprintf(&b, ", %d %s.\n", len(findings), plural(len(findings), "finding"))
	for _, name := range r.Unmet {
		fmt.Fprintf(&b, "\nNever happened: %s\n", escapeMarkdown(name))
	}
	for _, text := range slices.Concat(r.Uncompared(), r.Warnings) {
		fmt.Fprintf(&b, "\n%s\n", escapeMarkdown(text))
	}
	for i, f := range findings {
		if len(f.Cases) == 0 {
			fmt.Fprintf(&b, "\n#### %d. %s\n\n%d %s\n", i+1, escapeMarkdown(f.String()), f.Count, plural(f.Count, "run"))
			continue
		}
		fmt.Fprintf(&b, "\n#### %d. %s\n\n%d %s, for example\n\n%s\nReplay:\n\n%s", i+1, escapeMarkdown(f.String()), f.Count, plural(f.Count, "run"),
			codeBlock(strings.TrimSuffix(story(f.Example), f.Example.Replay+"\n")), codeBlock(f.Example.Replay))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("report: markdown: %w", err)
	}
	return nil
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// codeBlock is text between fences that are longer than any within it.
func codeBlock(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}

// escapeMarkdown has text stand as it is, on one line.
func escapeMarkdown(text string) string {
	return strings.NewReplacer("\n", " ", "\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "<", "&lt;", "&", "&amp;", "|", "\\|", "[", "\\[").Replace(text)
}
