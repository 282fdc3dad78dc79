package crypto

import (
	"context"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/ecma"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

const cryptoPrelude = `
globalThis.s = crypto.subtle;
globalThis.enc = (t) => new TextEncoder().encode(t);
globalThis.hex = (b) => [...new Uint8Array(b)].map((x) => x.toString(16).padStart(2, "0")).join("");
globalThis.hmac = (usages = ["sign", "verify"]) => s.importKey("raw", enc("key"), { name: "HMAC", hash: "SHA-256" }, true, usages);
globalThis.aes = (name) => s.importKey("raw", new Uint8Array(16), name, true, ["encrypt", "decrypt"]);
`

// The classes have the shape that Web IDL gives them (sections 10 and 14: interfaces
// Crypto, SubtleCrypto and CryptoKey), and a wrong receiver throws, as in workerd.
func TestCryptoShape(t *testing.T) {
	w := newWorld(t)
	w.Run(cryptoPrelude)
	w.Tries([][2]string{
		{`[crypto instanceof Crypto, s instanceof SubtleCrypto, Object.keys(crypto), Object.keys(s), "CryptoKey" in globalThis]`, `[true,true,[],[],true]`},
		{`Object.keys(CryptoKey.prototype)`, `[]`},
		{`Object.keys(Crypto.prototype).sort()`, `["DigestStream","getRandomValues","randomUUID","subtle"]`},
		{`Object.keys(SubtleCrypto.prototype).map((n) => n + s[n].length).join()`, `encrypt0,decrypt0,sign0,verify0,digest0,generateKey0,deriveKey0,deriveBits0,importKey0,exportKey0,wrapKey0,unwrapKey0,timingSafeEqual0`},
		{`["Crypto", "SubtleCrypto", "CryptoKey"].map((n) => { try { new globalThis[n]() } catch (e) { return e.name } })`, `["TypeError","TypeError","TypeError"]`},
		{`crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign"]).then((k) => [Object.keys(k), Object.getOwnPropertyDescriptor(k, "type")])`, `[["usages","algorithm","extractable","type"],{"value":"secret","writable":false,"enumerable":true,"configurable":true}]`},
		// Web Cryptography, section 15, and Web IDL, section 3.2.21: the sequences of a JsonWebKey are no strings.
		{`(async () => { const out = []; for (const m of [{ key_ops: "sign" }, { key_ops: 5 }, { key_ops: ["sign"] }, { key_ops: new Set(["sign"]) }, { oth: "x" }, { oth: [] }]) out.push(await s.importKey("jwk", { kty: "oct", k: "AAAA", ...m }, { name: "HMAC", hash: "SHA-256" }, true, ["sign"]).then((k) => k.type, (e) => e.name)); return out })()`, `["TypeError","TypeError","secret","secret","TypeError","secret"]`},
		{`hmac().then((k) => { k.algorithm.name = "x"; k.usages.length = 0; return s.sign("HMAC", k, enc("")).then((b) => [b.byteLength, k.algorithm.name, k.algorithm === k.algorithm]) })`, `[32,"x",true]`},
		{`(() => (0, s.digest)("SHA-1", enc("")))()`, `TypeError: ` + engine.IllegalInvocation},
		{`s.digest().catch((e) => e.name)`, `TypeError`},
		{`s.digest({ get name() { throw new RangeError("mine") } }, enc("")).catch((e) => e.message)`, `mine`},
		{`s.digest(Symbol(), enc("")).catch((e) => e.name)`, `TypeError`},
		{`s.digest({}, enc("")).catch((e) => e.message)`, `Unrecognized or unimplemented digest algorithm requested.`},
		{`s.importKey("zip", enc(""), "HMAC", true, ["sign"]).catch((e) => e.name)`, `TypeError`},
		{`s.importKey("raw-secret", enc("k"), { name: "HMAC", hash: "SHA-1" }, true, ["sign"]).then((k) => k.type)`, `secret`},
		{`s.importKey("raw-public", enc("k"), { name: "HMAC", hash: "SHA-1" }, true, ["sign"]).catch((e) => e.name)`, `NotSupportedError`},
		{`s.importKey("raw", enc("k"), { name: "HMAC", hash: "SHA-1" }, true, ["swim"]).catch((e) => e.name)`, `TypeError`},
		{`s.importKey("raw", enc("k"), { name: "HMAC", hash: "SHA-1" }, true, "sign").catch((e) => e.name)`, `TypeError`},
		{`s.importKey("raw", enc("k"), { name: "HMAC", hash: "SHA-1" }, true, new Set(["verify", "sign"])).then((k) => k.usages)`, `["sign","verify"]`},
		{`s.importKey("jwk", 5, { name: "HMAC", hash: "SHA-1" }, true, ["sign"]).catch((e) => e.name)`, `TypeError`},
		{`s.importKey("jwk", {}, { name: "HMAC", hash: "SHA-1" }, true, ["sign"]).catch((e) => e.name)`, `DataError`},
		{`s.generateKey({ name: "AES-GCM", length: 65536 + 128 }, true, ["encrypt"]).catch((e) => e.name)`, `TypeError`},
		{`s.generateKey({ name: "AES-GCM", length: NaN }, true, ["encrypt"]).catch((e) => e.name)`, `TypeError`},
		{`s.generateKey({ name: "AES-GCM", length: "128.9" }, true, ["encrypt"]).then((k) => k.algorithm.length)`, `128`},
		{`s.generateKey({ name: "RSA-PSS", hash: "SHA-1", modulusLength: 512, publicExponent: [1, 0, 1] }, true, ["sign"]).catch((e) => e.name)`, `TypeError`},
		{`s.encrypt("AES-KW", {}, enc("")).catch((e) => e.message)`, `Failed to execute 'encrypt' on 'SubtleCrypto': parameter 2 is not of type 'CryptoKey'.`},
		{`hmac().then((k) => s.encrypt("AES-KW", k, enc(""))).catch((e) => e.name)`, `InvalidAccessError`},
		{`hmac().then((k) => s.sign("rsa-PSS", k, enc(""))).catch((e) => e.message)`, `Requested algorithm "RSA-PSS" does not match this CryptoKey's algorithm "HMAC".`},
		{`Promise.all([hmac(), hmac(["sign"])]).then(([k, only]) => s.verify("HMAC", only, enc(""), enc(""))).catch((e) => e.name)`, `InvalidAccessError`},
		{`s.exportKey("jwk", 5).catch((e) => e.name)`, `TypeError`},
		{`s.timingSafeEqual(enc("a").buffer, new DataView(enc("ba").buffer, 1))`, `true`},
		{`(() => { try { (0, s.timingSafeEqual)(enc("a"), enc("a")) } catch (e) { return e.name } })()`, `TypeError`},
	})
}

// Bytes are copied when an operation starts, after its algorithm is read
// (section 14.3.1, steps 2 and 4): what changes later does not matter.
func TestCryptoCopies(t *testing.T) {
	w := newWorld(t)
	w.Run(cryptoPrelude)
	w.Tries([][2]string{
		{`(async () => { const d = enc("abc"); const p = s.digest("SHA-1", d); d.fill(0); return hex(await p) })()`, `a9993e364706816aba3e25717850c26c9cd0d89d`},
		{`(async () => { const d = enc("xbc"); return hex(await s.digest({ get name() { d[0] = 97; return "SHA-1" } }, d)) })()`, `a9993e364706816aba3e25717850c26c9cd0d89d`},
		{`(async () => { const raw = new Uint8Array(16); const k = await s.importKey("raw", raw, "AES-CBC", true, ["encrypt"]); raw.fill(1); return hex(await s.exportKey("raw", k)) })()`, `00000000000000000000000000000000`},
		{`(async () => { const k = await hmac(); new Uint8Array(await s.exportKey("raw", k)).fill(0); return hex(await s.exportKey("raw", k)) })()`, `6b6579`},
		{`(async () => { const iv = new Uint8Array(20); const key = await aes("AES-CBC"); const a = s.encrypt({ name: "AES-CBC", iv: iv.subarray(2, 18) }, key, enc("x")); iv.fill(9); return hex(await a) === hex(await s.encrypt({ name: "AES-CBC", iv: new ArrayBuffer(16) }, key, enc("x"))) })()`, `true`},
	})
}

// A script that patches prototypes changes nothing of a wrapped JWK.
func TestCryptoPatchedPrototypes(t *testing.T) {
	w := newWorld(t)
	w.Run(cryptoPrelude)
	w.Tries([][2]string{
		{`(async () => { const wrapping = await s.generateKey({ name: "AES-GCM", length: 256 }, false, ["wrapKey", "unwrapKey"]), o = { name: "AES-GCM", iv: new Uint8Array(12) };
			Object.prototype.toJSON = Array.prototype.toJSON = () => "patched"; Object.defineProperty(Object.prototype, "kty", { set() { throw 1 }, get() { throw 2 }, configurable: true });
			try { return (await s.unwrapKey("jwk", await s.wrapKey("jwk", await hmac(), wrapping, o), wrapping, o, { name: "HMAC", hash: "SHA-256" }, false, ["verify"])).usages.join() }
			finally { delete Object.prototype.toJSON; delete Array.prototype.toJSON; delete Object.prototype.kty } })()`, `verify`},
		{`(async () => { const wrapping = await s.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "unwrapKey"]), o = { name: "AES-GCM", iv: new Uint8Array(12) };
			const out = []; for (const text of ["{", "5", "{}", "{\"kty\":7}", "{\"kty\":\"oct\",\"k\":\"AAAA\",\"key_ops\":5}"]) await s.unwrapKey("jwk", await s.encrypt(o, wrapping, enc(text)), wrapping, o, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]).catch((e) => out.push(e.name)); return out })()`, `["DataError","DataError","DataError","DataError","DataError"]`},
	})
}

// What cannot be exported, imported or derived is refused as workerd does it; an
// exported JWK has all members.
func TestCryptoRefusals(t *testing.T) {
	w := newWorld(t)
	w.Off[compat.WebcryptoModernAlgorithms] = true
	w.Run(cryptoPrelude)
	w.Tries([][2]string{
		{`(async () => Object.keys(await s.exportKey("jwk", await hmac())).join())()`, `kty,use,key_ops,alg,ext,crv,x,y,d,n,e,p,q,dp,dq,qi,oth,k,pub,priv`},
		{`(async () => s.exportKey("nope", await hmac()))()`, `NotSupportedError: Unimplemented key export format "nope".`},
		{`(async () => s.exportKey("raw-secret", await hmac()))()`, `NotSupportedError: Key format "raw-secret" requires the webcrypto_modern_algorithms flag.`},
		{`(async () => s.exportKey("nope", (await s.generateKey("Ed25519", true, ["sign", "verify"])).publicKey))()`, `InvalidAccessError: Cannot export "Ed25519" in "nope" format.`},
		{`s.importKey("nope", new Uint8Array(16), "AES-GCM", true, [])`, `NotSupportedError: Unrecognized key import format "nope".`},
		{`(async () => { const x = await s.generateKey("X25519", true, ["deriveBits"]), e = await s.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
			return s.deriveBits({ name: "X25519", public: e.publicKey }, x.privateKey, 8) })()`, `InvalidAccessError: Base X25519 private key cannot be used to derive a key from a peer ECDH public key`},
	})
}

// A seeded run makes the same keys, signatures and ciphertexts each time.
func TestCryptoDeterministic(t *testing.T) {
	run := func() string {
		w := newWorld(t)
		w.Run(cryptoPrelude)
		w.Run(`
			for (const [a, usages] of [[{ name: "ECDSA", namedCurve: "P-384" }, ["sign"]], ["Ed25519", ["sign"]], ["X25519", ["deriveBits"]],
				[{ name: "RSA-PSS", hash: "SHA-256", modulusLength: 512, publicExponent: new Uint8Array([1, 0, 1]) }, ["sign"]]]) {
				const { privateKey } = await s.generateKey(a, true, usages);
				say(hex(await s.exportKey("pkcs8", privateKey)));
				if (usages[0] === "sign") say(hex(await s.sign({ name: privateKey.algorithm.name, hash: "SHA-1", saltLength: 8 }, privateKey, enc("x"))));
			}
			say(crypto.randomUUID());`)
		return strings.Join(w.Out, "\n")
	}
	if a, b := run(), run(); a != b || len(a) < 1000 || strings.Contains(a, "THROWN") {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}

// Random values need a context; what is computed from arguments does not.
func TestCryptoInGlobalScope(t *testing.T) {
	w := newWorld(t)
	w.Realm.Engine.Post(engine.GlobalFrame, "load", func() {
		if _, err := w.Realm.VM.RunString(cryptoPrelude + `
			hmac().then((k) => s.sign("HMAC", k, enc(""))).then((b) => say(b.byteLength));
			s.importKey("raw", enc("x"), "PBKDF2", false, ["deriveBits"]).then((k) => s.deriveBits({ name: "PBKDF2", hash: "SHA-1", salt: enc(""), iterations: 2000 }, k, 8)).then((b) => say(b.byteLength));
			s.generateKey({ name: "AES-CBC", length: 128 }, true, ["encrypt"]).catch((e) => say(e.message.slice(0, 51)));
			s.generateKey("Ed25519", true, ["sign"]).then((k) => say(k.privateKey.type));
			try { crypto.randomUUID() } catch (e) { say(e.message.slice(0, 20)) }`); err != nil {
			w.Realm.Engine.Rethrow(err)
		}
	})
	for w.Sched.Step() {
	}
	w.Said("Disallowed operation", "Disallowed operation called within global scope. As", "private", "32", "1")
}

// Costly work of a request leaves the loop, in the seeded order or on threads;
// that of an object stays in its turn, so that no other event comes between.
func TestCryptoOffTheLoop(t *testing.T) {
	const source = `const k = await crypto.subtle.importKey("raw", new Uint8Array(1), "PBKDF2", false, ["deriveBits"]);
		const work = crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-1", salt: new Uint8Array(1), iterations: 5000 }, k, 8).then((b) => say("derived " + b.byteLength));
		await null; await null; await null; say("went on"); await work;
		await crypto.subtle.generateKey({ name: "RSA-PSS", hash: "SHA-1", modulusLength: 512, publicExponent: new Uint8Array([7]) }, true, ["sign"]).catch((e) => say(e.name));`
	w := newWorld(t)
	w.Realm.Go = w.Sched.Go
	w.Run(source)
	w.Said("went on", "derived 1", "OperationError")
	w.Context = w.Realm.Engine.NewContext(engine.ObjectContext, "")
	w.Run(source)
	w.Said("derived 1", "went on", "OperationError")

	th := sched.NewThreads(clock.Real{})
	e := ecma.New(engine.Options{Name: "test", Scheduler: th, Entropy: entropy.System{}})
	r := webidl.New(e, webidl.Options{Go: th.Go})
	install(r)
	done := make(chan string, 1)
	said := ""
	e.Global("say", e.Func("say", 1, func(c goja.FunctionCall) goja.Value {
		if said += c.Argument(0).String() + ";"; strings.Contains(said, "Error") {
			done <- said
		}
		return goja.Undefined()
	}))
	e.Post(e.NewContext(engine.RequestContext, "").Frame(), "test", func() {
		if _, err := r.VM.RunString("(async () => {" + source + "})().catch((e) => say('Error ' + e.message))"); err != nil {
			e.Rethrow(err)
		}
	})
	select {
	case got := <-done:
		if got != "went on;derived 1;OperationError;" {
			t.Errorf("said %s", got)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the work did not end")
	}
	if err := th.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}
