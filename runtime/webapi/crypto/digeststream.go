package crypto

import (
	_ "embed"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"math/big"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webcrypto"
	"minido.dev/minido/runtime/webidl"
)

//go:embed js/digest.js
var digestSource string

var digestPrelude = engine.NewPrelude("digest.js", digestSource)

// crc64NVME is the polynomial of CRC-64/NVME, reflected.
const crc64NVME = 0x9a6c9329ac4bc9b5

// makeDigestStream makes crypto.DigestStream, a WritableStream of workerd's
// (src/workerd/api/crypto/crypto.c++).
func (p *Crypto) makeDigestStream() goja.Value {
	native := p.Engine.Native(engine.Func{Name: "hash", Fn: func(call goja.FunctionCall) goja.Value {
		return p.digestOf(call.Argument(0))
	}})
	native.Set("WritableStream", p.writableStream())
	return p.Engine.Load(digestPrelude, native)
}

// digestOf is the running digest of a stream: write(chunk) takes bytes and
// strings and returns false for what is neither, sum() ends it.
func (p *Crypto) digestOf(algorithm goja.Value) goja.Value {
	h := p.newDigest(algorithm)
	written := new(big.Int)
	return p.Engine.Native(
		engine.Func{Name: "write", Fn: func(call goja.FunctionCall) goja.Value {
			data, ok := p.BytesOf(call.Argument(0))
			if text, isString := call.Argument(0).(goja.String); isString {
				data, ok = []byte(webidl.UTF8Of(text)), true
			}
			h.Write(data)
			written.Add(written, big.NewInt(int64(len(data))))
			return p.VM.ToValue(ok)
		}},
		engine.Func{Name: "sum", Fn: func(goja.FunctionCall) goja.Value { return p.NewArrayBuffer(h.Sum(nil)) }},
		engine.Func{Name: "written", Fn: func(goja.FunctionCall) goja.Value { return p.VM.ToValue(new(big.Int).Set(written)) }},
	)
}

func (p *Crypto) newDigest(algorithm goja.Value) hash.Hash {
	v := p.algorithmIdentifier(algorithm)
	name := v
	if _, ok := v.(*goja.Object); ok {
		name = webidl.Get(v, "name")
	}
	switch strings.ToLower(name.String()) {
	case "crc32":
		return crc32.NewIEEE()
	case "crc32c":
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case "crc64nvme":
		return crc64.New(crc64.MakeTable(crc64NVME))
	}
	return webcrypto.NewDigest(p.normalize(webcrypto.OpDigest, v).Name)
}
