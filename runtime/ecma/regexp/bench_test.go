package regexp

import "testing"

func BenchmarkRegExp(b *testing.B) {
	w := newWorld(b)
	for name, source := range map[string]string{
		"construct": `for (let i = 0; i < 100; i++) new RegExp("a+b", "g")`,
		"literal":   `for (let i = 0; i < 100; i++) /a+b/g.exec("xxaab")`,
		"replace":   `for (let i = 0; i < 100; i++) "xxaabaab".replace(/a+b/g, "-")`,
		"property":  `for (let i = 0; i < 100; i++) "xxaabaab".replace(new RegExp("\\p{Lu}", "gu"), "-")`,
	} {
		b.Run(name, func(b *testing.B) {
			w.Turn(func() {
				for b.Loop() {
					if _, err := w.Realm.VM.RunString("{" + source + "}"); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
