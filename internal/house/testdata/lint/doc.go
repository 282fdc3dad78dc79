package planted

type Undocumented struct{} // want: doc

// Documented has a docstring.
type Documented struct{}

func (Documented) Bare() {} // want: doc

func Loose() {} // want: doc

const Bare = 1 // a comment on its line is enough for a value

var Naked int /* in Go's own form */

type hidden struct{}

func (hidden) Close() {}

// These belong together.
const (
	A = 1
	B = 2
)
