package json

import (
	"context"
	"strconv"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/insides"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/engine"
)

// 100 KB, a list of records: what e2e/bench measures.
const jsonDocument = "const doc = Array.from({ length: 900 }, (_, id) => ({ id, name: `record ${id}`, tags: [`a`, `b`, `ç`], nested: { on: id % 2 === 0, ratio: id / 7, none: null } }));"

func BenchmarkStringify(b *testing.B) {
	benchmarkJSON(b, jsonDocument+`const job = () => JSON.stringify(doc).length;`)
}

func BenchmarkParse(b *testing.B) {
	benchmarkJSON(b, jsonDocument+`const text = JSON.stringify(doc); const job = () => JSON.parse(text).length;`)
}

// BenchmarkParseFloor makes the objects and arrays that BenchmarkParse's text has, with
// names, numbers and strings at hand: what no parser of goja's objects is faster than.
func BenchmarkParseFloor(b *testing.B) {
	withEngine(b, func(e *engine.Engine) {
		m := e.Maker()
		know := func(name unistring.String) *insides.Name {
			known := m.Know(name)
			return &known
		}
		id, name, tagged, nested, on, ratio, none := know("id"), know("name"), know("tags"), know("nested"), know("on"), know("ratio"), know("none")
		yes := e.VM().ToValue(true)
		boxes := m.Boxes()
		var ids, texts, ratios []goja.Value
		for i := range 900 {
			ids = append(ids, boxes.Integer(int64(i)))
			texts = append(texts, m.AsciiString("record "+strconv.Itoa(i)))
			ratios = append(ratios, boxes.Number(float64(i)/7+0.01))
		}
		tags := []goja.Value{m.Plain.Letter('a'), m.Plain.Letter('b'), m.Plain.Letter('ç')}
		var inner [3]insides.Member
		var outer [4]insides.Member
		b.ReportAllocs()
		for b.Loop() {
			items := make([]goja.Value, 0, 900)
			for i := range 900 {
				inner[0] = insides.Member{Name: on, Value: yes}
				inner[1] = insides.Member{Name: ratio, Value: ratios[i]}
				inner[2] = insides.Member{Name: none, Value: goja.Null()}
				outer[0] = insides.Member{Name: id, Value: ids[i]}
				outer[1] = insides.Member{Name: name, Value: texts[i]}
				outer[2] = insides.Member{Name: tagged, Value: m.ArrayOf(tags)}
				outer[3] = insides.Member{Name: nested, Value: m.ObjectOf(inner[:])}
				items = append(items, m.ObjectOf(outer[:]))
			}
			m.ArrayOf(items)
		}
	})
}

func benchmarkJSON(b *testing.B, source string) {
	withEngine(b, func(e *engine.Engine) {
		if _, err := e.VM().RunString(source); err != nil {
			b.Error(err)
			return
		}
		job, err := e.VM().RunString("job")
		if err != nil {
			b.Error(err)
			return
		}
		b.ReportAllocs()
		for b.Loop() {
			e.Call(job, goja.Undefined())
		}
	})
}

// withEngine calls f in a turn of an isolate that has JSON alone.
func withEngine(b *testing.B, f func(e *engine.Engine)) {
	th := sched.NewThreads(clock.Real{})
	e := engine.New(engine.Options{Name: "bench", Scheduler: th, Entropy: entropy.System{}, Language: alone{}})
	c := e.NewContext(engine.RequestContext, "")
	done := make(chan struct{})
	e.Post(c.Frame(), "bench", func() {
		defer close(done)
		f(e)
	})
	<-done
	th.Close(context.Background())
}
