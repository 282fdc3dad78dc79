package drivers

import (
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/golden"
	"minido.dev/minido/runtime/binding"
	"minido.dev/minido/runtime/binding/driver"
)

// TestDocsSayWhatIsOffered shows that exactly the kinds with a driver are called
// full, partial or remote.
func TestDocsSayWhatIsOffered(t *testing.T) {
	for _, k := range binding.Kinds() {
		_, offered := makers[k.ID]
		if k.Bindings == nil && len(k.Attachments) > 0 { // nothing on env
			offered = k.Attachments[0].Offered
		}
		if offered != (k.Docs.State != binding.Absent) {
			t.Errorf("%s: the documentation says %q, and there is a driver: %v", k.ID, k.Docs.State, offered)
		}
	}
	for id := range makers {
		if binding.Lookup(id) == nil {
			t.Errorf("the driver of %q has no kind.json", id)
		}
	}
}

// TestEachDriverAlone shows that every driver opens and closes without having been
// used.
func TestEachDriverAlone(t *testing.T) {
	d := Open(&driver.Session{Entropy: entropy.NewSeeded(1), PersistDir: func() string { return "" }})
	for _, k := range binding.Kinds() {
		if _, offered := makers[k.ID]; offered != (d.Of(k.ID) != nil) {
			t.Errorf("%s: a driver: %v", k.ID, !offered)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestCompatibility shows that docs/compatibility.md has the tables of bindings
// that the kinds make.
func TestCompatibility(t *testing.T) {
	golden.Section(t, "../../../docs/compatibility.md", "bindings", docsTable())
}

func docsTable() string {
	var out, details, absent, remote strings.Builder
	fmt.Fprintln(&out, "| binding | key | state | on disk |\n|---|---|---|---|")
	fmt.Fprintln(&absent, "| binding | key | instead |\n|---|---|---|")
	fmt.Fprintln(&remote, "| binding | key |\n|---|---|")
	for _, k := range binding.Kinds() {
		if k.Docs.State == binding.Remote {
			fmt.Fprintf(&remote, "| %s | `%s` |\n", k.Title, k.Key)
			continue
		}
		if k.Docs.State == binding.Absent {
			notes := k.Docs.Notes
			if k.Advice != binding.CommonAdvice {
				notes = k.Advice
			}
			fmt.Fprintf(&absent, "| %s | `%s` | %s |\n", k.Title, k.Key, notes)
			continue
		}
		disk := ""
		if k.State != "" {
			disk = "`v3/" + k.State + "`"
		}
		fmt.Fprintf(&out, "| %s | `%s` | %s | %s |\n", k.Title, k.Key, k.Docs.State, disk)
		if k.Docs.Notes != "" {
			fmt.Fprintf(&details, "- %s: %s.\n", k.Title, strings.TrimSuffix(k.Docs.Notes, "."))
		}
	}
	return out.String() + "\n" + details.String() +
		"\nServices of an account that have no local form, in wrangler neither; every use rejects as with `wrangler dev --local`, `Binding X needs to be run remotely`:\n\n" + remote.String() + "\nAbsent (where the last column is empty: " + binding.CommonAdvice + "):\n\n" + absent.String()
}
