package picture

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"minido.dev/minido/runtime/binding/images/picture/codecs"
	"minido.dev/minido/runtime/wasm"
)

// maxCodecPages bounds the memory of a codec, in pages of 64 KiB: 1 GiB.
const maxCodecPages = 1 << 14

// Codecs are the codecs that are WebAssembly. Each is compiled when it is used first,
// which takes up to a second, or read from the directory of compiled code
// (wasm.KeepIn). Safe for concurrent use. Close ends them.
type Codecs struct{ webp, avifDecode, avifEncode codec }

// NewCodecs makes them.
func NewCodecs() *Codecs {
	return &Codecs{webp: codec{file: "webp.wasm.gz"}, avifDecode: codec{file: "avif-decode.wasm.gz"}, avifEncode: codec{file: "avif-encode.wasm.gz"}}
}

// Close frees what was compiled. A call that runs meanwhile fails.
func (c *Codecs) Close() error {
	return errors.Join(c.webp.close(), c.avifDecode.close(), c.avifEncode.close())
}

// codec is one of them.
type codec struct {
	file string // of package codecs

	mu       sync.Mutex            // guards the rest
	runtime  wazero.Runtime        // nil before the first use
	compiled wazero.CompiledModule // of runtime
}

func (c *codec) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runtime == nil {
		return nil
	}
	err := c.runtime.Close(context.Background())
	c.runtime, c.compiled = nil, nil
	return err
}

// module is the compiled module, and the runtime to use it in.
func (c *codec) module() (wazero.Runtime, wazero.CompiledModule, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runtime != nil {
		return c.runtime, c.compiled, nil
	}
	packed, err := codecs.Read(c.file)
	if err != nil {
		return nil, nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, nil, err
	}
	code, err := io.ReadAll(z)
	if err != nil {
		return nil, nil, err
	}
	ctx := context.Background()
	config := wazero.NewRuntimeConfig().WithDebugInfoEnabled(false).WithCloseOnContextDone(true).WithMemoryLimitPages(maxCodecPages)
	if dir := wasm.Kept(); dir != "" {
		if cache, err := wazero.NewCompilationCacheWithDir(dir); err == nil { // without the directory it takes longer, no more
			config = config.WithCompilationCache(cache)
		}
	}
	r := wazero.NewRuntimeWithConfig(ctx, config)
	compiled, err := r.CompileModule(ctx, code)
	if err == nil {
		err = world(ctx, r, compiled)
	}
	if err != nil {
		return nil, nil, errors.Join(err, r.Close(ctx))
	}
	c.runtime, c.compiled = r, compiled
	return r, compiled, nil
}

// Errors of WASI (preview 1).
const (
	wasiOK    = 0
	wasiBadFD = 8
)

// world is what the modules import: the functions of WASI, in a world that has no
// files, and in which it is always the same time.
func world(ctx context.Context, r wazero.Runtime, compiled wazero.CompiledModule) error {
	builder, none := r.NewHostModuleBuilder("wasi_snapshot_preview1"), true
	for _, f := range compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		if module != "wasi_snapshot_preview1" {
			return fmt.Errorf("a codec imports %s of %s", name, module)
		}
		none = false
		builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, m api.Module, stack []uint64) {
			switch name {
			case "proc_exit":
				panic(sys.NewExitError(uint32(stack[0])))
			case "clock_time_get":
				m.Memory().WriteUint64Le(uint32(stack[2]), 0)
				stack[0] = wasiOK
			default:
				stack[0] = wasiBadFD
			}
		}), f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	if none {
		return nil
	}
	_, err := builder.Instantiate(ctx)
	return err
}

// guest is an instance of a codec, for one call. What it allocates goes with it.
type guest struct {
	ctx context.Context
	api.Module
}

// with runs fn with a new instance.
func (c *codec) with(ctx context.Context, fn func(g guest) error) (err error) {
	r, compiled, err := c.module()
	if err != nil {
		return err
	}
	m, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(context.Background())) }()
	return fn(guest{ctx, m})
}

var errMemory = errors.New("the codec has not enough memory")

func (g guest) call(name string, args ...uint64) (uint64, error) {
	results, err := g.ExportedFunction(name).Call(g.ctx, args...)
	if err != nil {
		return 0, err
	}
	return results[0], nil
}

// room is so many bytes of the guest's memory.
func (g guest) room(n int) (uint64, error) {
	at, err := g.call("malloc", uint64(n))
	if err == nil && at == 0 {
		err = errMemory
	}
	return at, err
}

// put copies bytes into the guest's memory.
func (g guest) put(data []byte) (uint64, error) {
	at, err := g.room(len(data))
	if err == nil && !g.Memory().Write(uint32(at), data) {
		err = errMemory
	}
	return at, err
}

// take copies bytes out of the guest's memory.
func (g guest) take(at uint64, n int) ([]byte, error) {
	data, ok := g.Memory().Read(uint32(at), uint32(n))
	if !ok {
		return nil, errMemory
	}
	return bytes.Clone(data), nil
}

// written runs an encoder that gives the address of what it wrote, and its size at the
// address that args has as number size.
func (g guest) written(size int, args ...uint64) ([]byte, error) {
	at, err := g.put(make([]byte, 8))
	if err != nil {
		return nil, err
	}
	args[size] = at
	out, err := g.call("encode", args...)
	if err != nil {
		return nil, err
	}
	n, _ := g.Memory().ReadUint32Le(uint32(at))
	if out == 0 || n == 0 {
		return nil, errors.New("the codec gave nothing")
	}
	return g.take(out, int(n))
}

// encodeWebP calls encode(pixels, width, height, &size, colorspace, quality, method,
// lossless, exact) of webp.c; the pixels are not premultiplied.
func (c *Codecs) encodeWebP(ctx context.Context, m *image.RGBA, quality int) (data []byte, err error) {
	const method = 4
	err = c.webp.with(ctx, func(g guest) error {
		in, err := g.put(straight(m))
		if err == nil {
			data, err = g.written(3, in, uint64(m.Rect.Dx()), uint64(m.Rect.Dy()), 0, 0, uint64(quality), method, 0, 0)
		}
		return err
	})
	if err != nil {
		return nil, failed("webp: %s", err)
	}
	return data, nil
}

// straight are the pixels of a picture as they are before their alpha is multiplied in.
func straight(m *image.RGBA) []byte {
	out := bytes.Clone(m.Pix)
	for i := 0; i+3 < len(out); i += 4 {
		a := uint32(out[i+3])
		if a == 0 || a == 255 {
			continue
		}
		for j := i; j < i+3; j++ {
			out[j] = uint8(min(255, (uint32(out[j])*255+a/2)/a))
		}
	}
	return out
}

// decodeWebP is the first picture of an animation: decode(in, size, configOnly, all,
// &width, &height, &count, &animated, delays, out) of webp.c.
func (c *Codecs) decodeWebP(ctx context.Context, data []byte, h header) (m image.Image, err error) {
	err = c.webp.with(ctx, func(g guest) error {
		in, err := g.put(data)
		if err != nil {
			return err
		}
		heads, err := g.put(make([]byte, 24))
		if err != nil {
			return err
		}
		out, err := g.room(h.width * h.height * 4)
		if err != nil {
			return err
		}
		ok, err := g.call("decode", in, uint64(len(data)), 1, 0, heads, heads+4, heads+8, heads+12, 0, 0)
		if err != nil {
			return err
		}
		width, _ := g.Memory().ReadUint32Le(uint32(heads))
		height, _ := g.Memory().ReadUint32Le(uint32(heads + 4))
		if ok == 0 || int(width) != h.width || int(height) != h.height {
			return errors.New("its chunks do not agree")
		}
		if ok, err = g.call("decode", in, uint64(len(data)), 0, 0, heads, heads+4, heads+8, heads+12, heads+16, out); err != nil {
			return err
		}
		if ok == 0 {
			return errors.New("its first picture cannot be read")
		}
		m, err = g.pixels(out, h.width, h.height)
		return err
	})
	return m, err
}

// pixels are four bytes for each, premultiplied.
func (g guest) pixels(at uint64, width, height int) (image.Image, error) {
	pix, err := g.take(at, width*height*4)
	return &image.RGBA{Pix: pix, Stride: width * 4, Rect: image.Rect(0, 0, width, height)}, err
}

// decodeAVIF calls decode(in, size, configOnly, all, &width, &height, &depth, &count,
// delays, out) of decode.c; pictures with more than 8 bits have two bytes a channel.
func (c *Codecs) decodeAVIF(ctx context.Context, data []byte) (m image.Image, err error) {
	err = c.avifDecode.with(ctx, func(g guest) error {
		in, err := g.put(data)
		if err != nil {
			return err
		}
		heads, err := g.put(make([]byte, 24))
		if err != nil {
			return err
		}
		ok, err := g.call("decode", in, uint64(len(data)), 1, 0, heads, heads+4, heads+8, heads+12, 0, 0)
		if err != nil {
			return err
		}
		head, err := g.take(heads, 12)
		if err != nil {
			return err
		}
		le := binary.LittleEndian
		width, height, depth := int(le.Uint32(head)), int(le.Uint32(head[4:])), le.Uint32(head[8:])
		if ok == 0 || width <= 0 || height <= 0 {
			return errors.New("it is no AVIF")
		}
		if err := checkSize(width, height, "Input image"); err != nil {
			return err
		}
		size := width * height * 4
		if depth > 8 {
			size *= 2
		}
		out, err := g.put(make([]byte, size))
		if err != nil {
			return err
		}
		if ok, err = g.call("decode", in, uint64(len(data)), 0, 0, heads, heads+4, heads+8, heads+12, heads+16, out); err != nil {
			return err
		}
		if ok == 0 {
			return errors.New("its pixels cannot be read")
		}
		if depth <= 8 {
			m, err = g.pixels(out, width, height)
			return err
		}
		pix, err := g.take(out, size)
		for i := 0; i+1 < len(pix); i += 2 {
			pix[i], pix[i+1] = pix[i+1], pix[i]
		}
		m = &image.RGBA64{Pix: pix, Stride: width * 8, Rect: image.Rect(0, 0, width, height)}
		return err
	})
	return m, err
}

// encodeAVIF calls encode(pixels, width, height, &size, quality, qualityOfAlpha, speed,
// format) of encode.c; the pixels are premultiplied, and it frees them.
func (c *Codecs) encodeAVIF(ctx context.Context, m *image.RGBA, quality int) (data []byte, err error) {
	const speed, yuv444 = 8, 1
	err = c.avifEncode.with(ctx, func(g guest) error {
		in, err := g.put(m.Pix)
		if err == nil {
			data, err = g.written(3, in, uint64(m.Rect.Dx()), uint64(m.Rect.Dy()), 0, uint64(quality), uint64(quality), speed, yuv444)
		}
		return err
	})
	if err != nil {
		return nil, failed("avif: %s", err)
	}
	return data, nil
}
