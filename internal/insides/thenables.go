package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// goja tells an AsyncContextTracker of the jobs that react to promises, not of those
// that call the then() of a thenable (ECMA-262, NewPromiseResolveThenableJob). These
// are told from others in the queue by their code.

// Thenables finds the jobs that call a thenable's then(). It is immutable.
type Thenables struct {
	Known bool
	queue uintptr // in goja.Runtime
	code  uintptr // of such a job
	ours  uintptr // of one that an async function of ours queues: the compiler has copies of goja's code
}

// TheThenables is learnt at the first call. Safe for concurrent use.
var TheThenables = learnt(learnKnownThenables)

func learnKnownThenables(l *look) *Thenables {
	return whole(l, learnThenables(l), func(known *Thenables) { known.Known = true })
}

func learnThenables(l *look) *Thenables {
	t := &Thenables{queue: l.Typed(reflect.TypeFor[goja.Runtime](), "jobQueue", reflect.TypeFor[[]func()]())}
	if l.Known() {
		l.Is("a thenable's job", "of one code, unlike a reaction's", t.learnCode())
	}
	return t
}

// learnCode queues jobs of both kinds and looks at their code.
func (t *Thenables) learnCode() bool {
	vm := goja.New()
	var codes []uintptr
	err := vm.Set("look", func() {
		for _, job := range *t.Queue(vm) {
			codes = append(codes, codeOf(job))
		}
	})
	if err != nil {
		return false
	}
	const queued = `Promise.resolve({ then(ok) { ok(1) } });
Promise.resolve(1).then(() => {});
(async () => { await { then(ok, fail) { fail(2) } } })().catch(() => {});
Promise.reject(1).catch(() => {});
look();`
	if _, err := vm.RunString(queued); err != nil || len(codes) != 4 {
		return false
	}
	p, _, _ := vm.NewPromise()
	t.code, t.ours = codes[0], codeOf(thenableJob(vm, p, goja.Undefined(), &jobCallback{}))
	return codes[2] == t.code && !t.is(codes[1]) && !t.is(codes[3])
}

func (t *Thenables) is(code uintptr) bool { return code == t.code || code == t.ours }

// codeOf is where the code of a function begins: a func value points to a record
// that begins with it.
func codeOf(fn func()) uintptr { return **(**uintptr)(unsafe.Pointer(&fn)) }

// Queue is the queue of a runtime's jobs. It is loop-confined, and replaced when the
// jobs run.
func (t *Thenables) Queue(vm *goja.Runtime) *[]func() {
	return (*[]func())(unsafe.Add(unsafe.Pointer(vm), t.queue))
}

// Calls reports whether a job calls the then() of a thenable.
func (t *Thenables) Calls(job func()) bool { return t.is(codeOf(job)) }
