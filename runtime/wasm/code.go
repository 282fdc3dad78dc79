package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"weak"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"minido.dev/minido/internal/insides/instances"
)

// Code is a module: read, and compiled when it is first instantiated or asked
// for. It is shared by all isolates of the process that import the same bytes.
// Immutable but for what its Once guards; safe for concurrent use.
type Code struct {
	binary    *binary
	rewritten *rewritten

	once     sync.Once
	compiled wazero.CompiledModule
	err      error
}

// compiler is wazero, one for the process: what it gives numbers to (types) is then
// the same for all instances, and code is compiled once. It is made at the first
// module and never closed.
type compiler struct {
	runtime wazero.Runtime
	tick    api.Module // exports the function that is called when fuel runs out
	ticks   uintptr    // the reference to it

	mu      sync.Mutex
	codes   map[[sha256.Size]byte]weak.Pointer[Code] // guarded by mu
	recent  [keepCodes]*Code                         // guarded by mu: not to be compiled again when all their isolates have ended
	next    int                                      // guarded by mu
	homes   map[string]wazero.CompiledModule         // guarded by mu: the modules of our own, by their bytes
	compile sync.Mutex                               // held while wazero compiles a module
}

// keepCodes is how many modules stay compiled while no isolate has them.
const keepCodes = 16

// keepIn is the directory in which compiled code is kept between processes.
var keepIn struct {
	mu  sync.Mutex
	dir string // guarded by mu
}

// KeepIn has code that is compiled from now on kept in a directory, so that the
// next process need not compile it. It is for all isolates of the process; the
// first directory that is given holds, if it is before the first Read. A directory
// that cannot be written costs time, no more. Safe for concurrent use.
func KeepIn(dir string) {
	keepIn.mu.Lock()
	defer keepIn.mu.Unlock()
	if keepIn.dir == "" {
		keepIn.dir = dir
	}
}

// Kept is the directory of KeepIn; "" if there is none. Safe for concurrent use.
func Kept() string {
	keepIn.mu.Lock()
	defer keepIn.mu.Unlock()
	return keepIn.dir
}

func (c *compiler) config() wazero.RuntimeConfig {
	config := wazero.NewRuntimeConfigCompiler().WithDebugInfoEnabled(false).
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst | experimental.CoreFeaturesExceptionHandling)
	dir := Kept()
	if dir == "" {
		return config
	}
	if cache, err := wazero.NewCompilationCacheWithDir(dir); err == nil {
		return config.WithCompilationCache(cache)
	}
	return config
}

var theCompiler = sync.OnceValues(func() (*compiler, error) {
	e := &compiler{codes: map[[sha256.Size]byte]weak.Pointer[Code]{}, homes: map[string]wazero.CompiledModule{}}
	ctx := context.Background()
	err := guarded(func() (err error) {
		e.runtime = wazero.NewRuntimeWithConfig(ctx, e.config())
		ticks, err := e.runtime.NewHostModuleBuilder("minido").NewFunctionBuilder().
			WithGoFunction(api.GoFunc(tick), nil, nil).Export("tick").Compile(ctx)
		if err == nil {
			e.tick, err = e.runtime.InstantiateModule(ctx, ticks, anonymous())
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("WebAssembly needs a processor of the kinds amd64 (with SSE 4.1) and arm64: %w", err)
	}
	if err := guarded(func() error { return instances.Check(e.tick, "") }); err != nil {
		return nil, err
	}
	e.ticks = instances.EngineOf(e.tick).FunctionInstanceReference(0)
	return e, nil
})

// anonymous is how everything is instantiated: without a name, a start or a world
// outside.
func anonymous() wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithName("").WithStartFunctions()
}

// guarded turns a panic of wazero's, which is a bug in it, into an error.
func guarded(fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("wazero failed: %v", r)
		}
	}()
	return fn()
}

// Read takes a module apart and remembers it by its content. The error says what
// is wrong with the bytes, or what minido cannot do; whether function bodies are
// valid is known only when it is compiled. Safe for concurrent use.
func Read(data []byte) (*Code, error) {
	e, err := theCompiler()
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(data)
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.codes[key].Value(); c != nil {
		return c, nil
	}
	c := &Code{}
	if c.binary, err = readBinary(data); err != nil {
		return nil, err
	}
	if err := c.binary.ordered(); err != nil {
		return nil, err
	}
	if c.rewritten, err = c.binary.rewrite(); err != nil {
		return nil, err
	}
	c.binary.sections = nil // the bytes are needed no longer
	e.codes[key] = weak.Make(c)
	runtime.AddCleanup(c, e.forget, key)
	e.recent[e.next] = c
	e.next = (e.next + 1) % keepCodes
	return c, nil
}

func (e *compiler) forget(key [sha256.Size]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.codes[key].Value() == nil {
		delete(e.codes, key)
	}
}

// Compile compiles the module, once; the error is a CompileError's text. It may
// take seconds. Safe for concurrent use.
func (c *Code) Compile() error {
	c.once.Do(func() {
		e, err := theCompiler()
		if err != nil {
			c.err = err
			return
		}
		if c.compiled, c.err = e.compiled(c.rewritten.bytes); c.err != nil {
			c.err = errors.New(strings.TrimPrefix(c.err.Error(), "wasm: "))
			return
		}
		c.rewritten.bytes = nil
		runtime.AddCleanup(c, func(m wazero.CompiledModule) { _ = m.Close(context.Background()) }, c.compiled) // it frees memory; its error is always nil
	})
	return c.err
}

// compiled is the code of a module. wazero's compiler is not to be used by two at
// once.
func (e *compiler) compiled(data []byte) (m wazero.CompiledModule, err error) {
	e.compile.Lock()
	defer e.compile.Unlock()
	// Its workers are gone when it returns; what they make is the same in any order.
	ctx := experimental.WithCompilationWorkers(context.Background(), max(1, runtime.GOMAXPROCS(0)/2))
	// The second time wazero has what it could not write to the directory of KeepIn.
	for range 2 {
		err = guarded(func() (err error) {
			m, err = e.runtime.CompileModule(ctx, data)
			return err
		})
		var file *fs.PathError
		if !errors.As(err, &file) {
			break
		}
	}
	return m, err
}

// maxHomes bounds the modules of our own that stay compiled.
const maxHomes = 256

// home is the code of a module of our own. The caller has to close it if it is not
// kept.
func (e *compiler) home(data []byte) (m wazero.CompiledModule, kept bool, err error) {
	e.mu.Lock()
	m = e.homes[string(data)]
	e.mu.Unlock()
	if m != nil {
		return m, true, nil
	}
	if m, err = e.compiled(data); err != nil {
		return nil, false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch other := e.homes[string(data)]; {
	case other != nil:
		_ = m.Close(context.Background()) // frees memory; no error
		return other, true, nil
	case len(e.homes) < maxHomes:
		e.homes[string(data)] = m
		return m, true, nil
	}
	return m, false, nil
}
