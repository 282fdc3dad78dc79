package insides

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/scalars"
)

// Scalar looks at a value.
func (l *Plain) Scalar(v goja.Value) scalars.Scalar {
	w, kind := wordsOf(&v), scalars.None
	if w.tab == nil || !l.Known {
		return scalars.Scalar{}
	}
	switch w.tab {
	case l.ascii:
		kind = scalars.ASCII
	case l.wide:
		kind = scalars.Wide
	case l.integer:
		kind = scalars.Integer
	case l.float:
		kind = scalars.Float
	case l.boolean:
		kind = scalars.Boolean
	case l.null:
		kind = scalars.Null
	}
	return scalars.At(w.data, kind)
}
