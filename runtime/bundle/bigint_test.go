package bundle

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// Shifts keep their meaning, whatever stands on their right, and each goes
// through the helper.
func TestShiftsAreGuarded(t *testing.T) {
	l := &lowered{code: `(function(exports,require,module){"use strict";
const f = (x) => x + 1, g = (x) => (y) => x + y, o = { n: 2, m() { return 3; } }, a = [4];
let x = 1, y = 1n;
x <<= f(1);
y <<= 3n;
exports.all = [
  1 << o.n, 1 << (x, 2), 1 << (f)(1), 1 << g(1)(2), 1 << a[0], 1 << (o.n + 1), 1 << (1 << o.n), 1 << o.n << o.n, 64 >> (o.n ? 1 : 2), 64 >> o.m(), x, String(y), String(8n >> 1n),
  1 << -o.n, 1 << +"3", 1 << \u0061[0], 1 << function() { return 2; }(), 1 << (() => 2)(), 1 << new Number(2), ` + "1 << `2`, `${1 << o.n} << ${o.n}`" + `, 1 << 5, 64 >> 2, -1 >>> o.n, 1 << typeof o.n.length
];
})`}
	l.guardShifts()
	vm := goja.New()
	fn, err := vm.RunString(l.code)
	if err != nil {
		t.Fatal(err)
	}
	call, _ := goja.AssertFunction(fn)
	exports := vm.NewObject()
	guarded := 0
	helper := vm.ToValue(func(by goja.Value) goja.Value { guarded++; return by })
	if _, err := call(nil, exports, nil, nil, helper, helper); err != nil {
		t.Fatal(err)
	}
	const want = "4,4,4,8,16,8,16,16,32,8,4,8,4,1073741824,8,16,4,4,4,4,4 << 2,32,16,1073741823,1"
	if got := exports.Get("all").String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if written := strings.Count(l.code, "$shl((") + strings.Count(l.code, "$shr(("); written != 24 || guarded != written {
		t.Errorf("%d helpers are written and %d were called", written, guarded)
	}
}
