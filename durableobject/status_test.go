package durableobject_test

import (
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/runtime/minidotest"
)

const statusWorker = `
export class A extends DurableObject {
  nest() { return this.ctx.facets.get("inner", () => ({ class: this.ctx.exports.B })).here(); }
  here() { return "here"; }
  end() { this.ctx.abort("ended"); }
}
export class B extends A {}
export class P extends DurableObject {
  f(name) { return this.ctx.facets.get(name, () => ({ class: this.ctx.exports.A })); }
  async begin() {
    await this.f("runs").nest();
    await this.f("ends").here();
    await this.f("ends").end().catch(() => {});
    this.ctx.facets.get("starts", () => new Promise(() => {})).here().catch(() => {});
    await scheduler.wait(5);
  }
}
export default serve({});`

// A facet that has ended is not among those that run, nor is one that starts.
func TestRunningFacets(t *testing.T) {
	w := minidotest.NewWorker(t, statusWorker, minidotest.Options{})
	w.Want(`{"ok":null}`, "P/p/begin")
	var shown []string
	var show func(list []durableobject.FacetStatus) string
	show = func(list []durableobject.FacetStatus) string {
		var texts []string
		for _, f := range list {
			texts = append(texts, fmt.Sprintf("%s %s [%s]", f.Name, f.Class, show(f.Facets)))
		}
		return strings.Join(texts, ", ")
	}
	objects, err := w.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		shown = append(shown, show(o.Live.Facets))
	}
	if got, want := strings.Join(shown, "; "), "runs A [inner B []]"; got != want {
		t.Errorf("%q run, want %q", got, want)
	}
}
