// Keys, signatures, encryption with RSA and key agreement of node:crypto
// (nodejs.org/api/crypto.html). The material is Go's: crypto_keys.go,
// crypto_sign.go and crypto_dh.go.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ObjectCreate, ObjectDefineProperty } = p;
  const streaming = native.require("internal/crypto_stream");
  const later = native.require("internal/crypto_later");
  const { Buffer } = native.require("buffer");

  const isKey = (v) => v instanceof KeyObject;
  const isCryptoKey = (v) => v instanceof globalThis.CryptoKey;
  const isBytes = (v) => native.isView(v) || v instanceof p.ArrayBuffer;
  const wrongType = (got, expected) => errors.make("Error", "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE", `Invalid key object type ${got}, expected ${expected}.`);

  // The keys of Diffie-Hellman: prime, generator, public, and private in a
  // private one. As in Workers they agree, and cannot be exported.
  const agreed = new p.WeakMap();
  const agreedKey = (C, parts) => {
    const key = ObjectCreate(C.prototype);
    agreed.set(key, parts);
    return key;
  };

  class KeyObject {
    constructor() { throw errors.make("Error", "", "Illegal constructor"); }
    static from(key) {
      if (!isCryptoKey(key)) throw errors.argType("key", "an instance of CryptoKey", key);
      const C = { secret: SecretKeyObject, public: PublicKeyObject, private: PrivateKeyObject }[key.type];
      const object = ObjectCreate(C.prototype);
      native.keyFrom(key, object);
      return object;
    }
    get [p.SymbolToStringTag]() { return "KeyObject"; }
    [Symbol.for("nodejs.util.inspect.custom")](depth, options) {
      if (depth < 0) return this;
      let shown = { size: this.symmetricKeySize };
      if (this.type !== "secret") {
        shown = { type: this.asymmetricKeyType, details: this.asymmetricKeyDetails };
      }
      return `${this.constructor.name} ${native.require("util").inspect(shown, options)}`;
    }
    equals(other) {
      if (!isKey(other) || other.type !== this.type) return false;
      if (agreed.has(this) || agreed.has(other)) {
        const a = agreed.get(this), b = agreed.get(other);
        return a !== undefined && b !== undefined && ["prime", "generator", "public"].every((name) => a[name].equals(b[name]));
      }
      const a = bytesOf(this), b = bytesOf(other);
      return a.length === b.length && native.timingSafeEqual(a, b);
    }
    toCryptoKey(algorithm, extractable, usages) {
      const a = typeof algorithm === "string" ? { name: algorithm } : algorithm;
      return native.keyToCrypto(this, a.name, a.hash?.name ?? a.hash, a.namedCurve, a.length, extractable, usages);
    }
  }
  // encodable checks that a key can be exported as a type.
  const encodable = (half, type, kind) => {
    if (!["pkcs1", "spki", "pkcs8", "sec1"].includes(type)) throw new Error("Invalid key encoding");
    if (!(half === "public" ? ["pkcs1", "spki"] : ["pkcs1", "pkcs8", "sec1"]).includes(type)) throw new Error("Failed to export key");
    const only = type === "pkcs1" && kind !== "rsa" ? "RSA" : type === "sec1" && kind !== "ec" ? "EC" : undefined;
    if (only !== undefined) throw errors.make("Error", "ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS", `The selected key encoding ${type} can only be used for ${only} keys.`);
  };
  // wanted checks an encoding that generateKeyPair is given for one half.
  const wanted = (options, half, kind) => {
    const name = `options.${half}KeyEncoding`, encoding = options[`${half}KeyEncoding`];
    if (encoding === undefined) return;
    errors.object(encoding, name);
    if (encoding.format === "jwk") return;
    if (encoding.format !== "pem" && encoding.format !== "der") throw new Error("Invalid key format");
    encodable(half, encoding.type, kind);
  };
  // jwkOf has every member of the reference's structure, most of them undefined.
  const jwkOf = (fields) => {
    const out = {};
    for (const name of ["kty", "use", "key_ops", "alg", "ext", "crv", "x", "y", "d", "n", "e", "p", "q", "dp", "dq", "qi", "oth", "k", "pub", "priv"]) out[name] = fields[name];
    return out;
  };
  class SecretKeyObject extends KeyObject {
    get type() { return "secret"; }
    get symmetricKeySize() { return native.secretBytes(this).length; }
    export(options) {
      const bytes = native.secretBytes(this);
      if (options !== undefined) errors.object(options, "options");
      const format = options?.format;
      if (format === "jwk") return jwkOf({ kty: "oct", ext: true, k: bytes.toString("base64url") });
      if (format !== undefined && format !== "buffer") throw errors.make("TypeError", "", `Invalid format for secret key export: ${format}`);
      return bytes;
    }
  }
  class AsymmetricKeyObject extends KeyObject {
    get asymmetricKeyType() { return agreed.has(this) ? "dh" : native.keyInfo(this)[0]; }
    get asymmetricKeyDetails() {
      const [, namedCurve, modulusLength, publicExponent] = agreed.has(this) ? [] : native.keyInfo(this);
      return { modulusLength: modulusLength || undefined, publicExponent: modulusLength ? publicExponent : undefined, divisorLength: undefined, namedCurve: namedCurve || undefined };
    }
    export(options) {
      if (options !== undefined) errors.object(options, "options");
      if (agreed.has(this)) throw new Error(options?.format === "jwk" ? "Key type is invalid for JWK export" : "Failed to export key");
      if (options?.format === "jwk") return jwkOf(native.keyExport(this, "jwk"));
      if (options?.type === undefined) throw errors.make("TypeError", "", "Missing type option");
      const { format } = options;
      if (format !== "pem" && format !== "der") throw new Error("Invalid key format");
      encodable(this.type, options.type, this.asymmetricKeyType);
      const { cipher, passphrase } = options;
      if (cipher === undefined || cipher === null || this.type !== "private") return native.keyExport(this, format, options.type);
      errors.string(cipher, "options.cipher");
      if (typeof passphrase !== "string" && !isBytes(passphrase)) {
        throw errors.argType("options.passphrase", "of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView", passphrase);
      }
      if (options.type !== "pkcs8") throw errors.make("Error", "ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS", `The selected key encoding ${options.type} does not support encryption.`);
      return native.keyExport(this, format, options.type, cipher, passphrase);
    }
  }
  class PublicKeyObject extends AsymmetricKeyObject { get type() { return "public"; } }
  class PrivateKeyObject extends AsymmetricKeyObject { get type() { return "private"; } }
  const bytesOf = (key) => key.type === "secret" ? native.secretBytes(key) : native.keyExport(key, "der", key.type === "private" ? "pkcs8" : "spki");

  const createSecretKey = (key, encoding) => native.secret(ObjectCreate(SecretKeyObject.prototype), typeof key === "string" ? Buffer.from(key, encoding) : key);

  // jwkComplete checks that a JWK has the members of its type.
  const jwkComplete = (key, isPrivate) => {
    errors.object(key, "key.key");
    const needs = { RSA: ["n", "e", ...(isPrivate ? ["d", "p", "q", "dp", "dq", "qi"] : [])], EC: ["x", "y", ...(isPrivate ? ["d"] : [])], OKP: [] }[key.kty];
    if (!needs) throw new Error(`JWK ${isPrivate ? "private" : "public"} key import is not implemented for this key type`); // the reference's text
    for (const name of needs) if (typeof key[name] !== "string") throw new Error(`${key.kty} JWK missing ${name} parameter`);
  };
  // keyOf reads a key as operations take it: a key, its text or bytes, or an
  // object that has one of these as `key`. As in the reference only encryption takes a
  // key there (nested).
  const keyOf = (input, isPrivate, nested = false) => {
    let key = input, encoding, type, passphrase;
    if (typeof input === "object" && input !== null && !isKey(input) && !isCryptoKey(input) && !isBytes(input)) ({ key, encoding, type, passphrase } = input);
    if (isCryptoKey(key)) key = KeyObject.from(key);
    if (isKey(key) && key !== input && !nested && !isCryptoKey(input.key)) throw errors.argType("options.key", "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, or Object", key);
    if (isKey(key)) {
      if (key.type === "secret" || isPrivate && key.type !== "private") throw wrongType(key.type, isPrivate ? "private" : "private or public");
      if (isPrivate || key.type === "public") return key;
      if (agreed.has(key)) return agreedKey(PublicKeyObject, { ...agreed.get(key), private: undefined });
      return native.keyPublic(ObjectCreate(PublicKeyObject.prototype), key);
    }
    const format = input?.format;
    if (format !== undefined && !["pem", "der", "jwk"].includes(format) && !isBytes(input)) throw errors.argValue("format", format, "must be one of: 'pem', 'der'");
    if (typeof key === "string" && format !== "jwk") key = Buffer.from(key, encoding);
    else if (format === "jwk") jwkComplete(key, isPrivate);
    else if (!isBytes(key)) {
      const given = typeof input === "object" && input !== null ? key : undefined;
      throw errors.argType(input === undefined || input === null ? "key" : "options.key", "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, or Object", given);
    }
    return native.keyParse(ObjectCreate((isPrivate ? PrivateKeyObject : PublicKeyObject).prototype), key, type, isPrivate, passphrase);
  };
  const createPrivateKey = (key) => keyOf(key, true);
  const createPublicKey = (key) => {
    if (isKey(key) && key.type !== "private") throw errors.argType("key", "an instance of PrivateKeyObject", key);
    return keyOf(key, false);
  };

  const random = (size) => native.fill(Buffer.alloc(size));
  const generateKeySync = (type, options) => {
    if (type !== "hmac" && type !== "aes") throw errors.argValue("type", type, "must be one of: 'hmac', 'aes'");
    errors.object(options, "options");
    if (type === "hmac") errors.integer(options.length, "options.length", 8, 65536);
    else if (![128, 192, 256].includes(options.length)) throw errors.argValue("options.length", options.length, "must be one of: 128, 192, 256");
    return createSecretKey(random(options.length >> 3));
  };
  const agreedPair = ({ group, prime, primeLength, generator }) => {
    const apart = (name, others) => {
      for (const other of p.ObjectKeys(others)) {
        if (others[other] !== undefined) throw errors.make("Error", "ERR_INCOMPATIBLE_OPTION_PAIR", `The options "${name}" and "${other}" are mutually exclusive.`);
      }
    };
    let dh;
    if (group !== undefined) {
      apart("group", { prime, primeLength, generator });
      errors.string(group, "options.group");
      if (native.dhGroup(group.toLowerCase()) === undefined) throw new Error("Invalid or unsupported group");
      dh = new DiffieHellmanGroup(group);
    } else {
      if (generator !== undefined) errors.integer(generator, "options.generator", 0, 2147483647);
      if (prime !== undefined) {
        apart("prime", { primeLength });
        if (!isBytes(prime)) throw errors.argType("options.prime", "an instance of Buffer, TypedArray, or ArrayBuffer", prime);
      } else if (primeLength === undefined) {
        throw errors.make("Error", "ERR_MISSING_OPTION", "At least one of the group, prime, or primeLength options");
      } else errors.integer(primeLength, "options.primeLength", 0, 2147483647);
      try {
        dh = new DiffieHellman(prime ?? primeLength, generator);
      } catch (error) {
        throw prime === undefined ? error : new Error("Failed to generate key");
      }
    }
    dh.generateKeys();
    const parts = { prime: dh.getPrime(), generator: dh.getGenerator(), public: dh.getPublicKey() };
    return { publicKey: agreedKey(PublicKeyObject, parts), privateKey: agreedKey(PrivateKeyObject, { ...parts, private: dh.getPrivateKey() }) };
  };
  const generateKeyPairSync = (type, options = {}) => {
    errors.object(options, "options");
    if (!["rsa", "ec", "ed25519", "x25519", "dh"].includes(type)) throw errors.argValue("type", type, "must be one of: 'rsa', 'ec', 'ed25519', 'x25519', 'dh'");
    if (type === "rsa") {
      const { modulusLength } = options;
      errors.uint32(modulusLength, "options.modulusLength");
      if (modulusLength === 0) throw new Error("Failed to set modulus length");
      if (modulusLength < 512 || modulusLength > 16384 || ![undefined, 3, 65537].includes(options.publicExponent) && typeof options.publicExponent === "number") throw new Error("Failed to generate key");
      if (options.publicExponent !== undefined) errors.integer(options.publicExponent, "options.publicExponent", 0, 4294967295);
    }
    if (type === "ec") {
      errors.string(options.namedCurve, "options.namedCurve");
      const { paramEncoding } = options;
      if (paramEncoding !== undefined && paramEncoding !== "named" && paramEncoding !== "explicit") throw errors.argValue("options.paramEncoding", paramEncoding, "must be one of: 'named', 'explicit'");
    }
    wanted(options, "public", type);
    wanted(options, "private", type);
    const pair = type === "dh" ? agreedPair(options) : { publicKey: ObjectCreate(PublicKeyObject.prototype), privateKey: ObjectCreate(PrivateKeyObject.prototype) };
    if (type !== "dh") native.keyGenerate(pair.publicKey, pair.privateKey, type, type === "rsa" ? options.modulusLength : options.namedCurve, options.publicExponent ?? 65537);
    if (options.publicKeyEncoding !== undefined) pair.publicKey = pair.publicKey.export(options.publicKeyEncoding);
    if (options.privateKeyEncoding !== undefined) pair.privateKey = pair.privateKey.export(options.privateKeyEncoding);
    return pair;
  };
  const generateKeyPair = (type, options, callback) => {
    errors.func(callback, "callback");
    called(() => generateKeyPairSync(type, options), (error, pair) => (error ? callback(error) : callback(null, pair.publicKey, pair.privateKey)));
  };

  // Signatures. ed25519 signs messages, every other key their digests.
  const signingOptions = (o) => {
    if (!o) return;
    const { dsaEncoding, padding, saltLength } = o;
    if (dsaEncoding !== undefined && dsaEncoding !== "der" && dsaEncoding !== "ieee-p1363") throw errors.argValue("options.dsaEncoding", dsaEncoding);
    if (padding !== undefined && (padding | 0) !== padding) throw errors.argValue("options.padding", padding);
    if (saltLength !== undefined && (saltLength | 0) !== saltLength) throw errors.argValue("options.saltLength", saltLength);
  };
  const sign = (key, algorithm, data, o) => native.keySign(key, algorithm, data, o?.padding, o?.saltLength, o?.dsaEncoding);
  const verify = (key, algorithm, data, o, signature) => native.keyVerify(key, algorithm, data, o?.padding, o?.saltLength, o?.dsaEncoding, signature);
  // once is what a one-shot signature takes of its options: the reference leaves padding
  // and saltLength out.
  const once = (key) => (isKey(key) ? undefined : { dsaEncoding: key.dsaEncoding });
  const signer = (name, finish) => {
    const C = { [name]: function (algorithm, options) {
      if (!(this instanceof C)) return new C(algorithm, options);
      errors.string(algorithm, "algorithm");
      try { native.hashState(this, algorithm); } catch { throw new Error(`Unknown digest: ${algorithm}`); }
      ObjectDefineProperty(this, "_algorithm", { value: algorithm });
    } }[name];
    streaming(C, {
      update(data, encoding) {
        if (typeof data === "string" && encoding !== undefined && !Buffer.isEncoding(encoding)) throw errors.make("TypeError", "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
      try { return native.hashUpdate(this, data, encoding); } catch (error) { throw error.code === "ERR_CRYPTO_HASH_FINALIZED" ? finalized(this) : error; }
      },
      [name.toLowerCase()]: finish,
      _transform(chunk, encoding, callback) { native.hashUpdate(this, chunk, encoding); callback(); },
    });
    return C;
  };
  const finalized = (self) => new Error(`${self instanceof Sign ? "Signing" : "Verification"} context has already been finalized`);
  const digestOf = (self) => { try { return native.hashDigest(self); } catch { throw finalized(self); } };
  const Sign = signer("Sign", function (privateKey, encoding) {
    if (!privateKey) throw errors.make("Error", "ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign");
    const key = keyOf(privateKey, true);
    if (key.asymmetricKeyType === "ed25519") throw new Error("Failed to set signature digest");
    if (!isKey(privateKey)) signingOptions(privateKey);
    const out = sign(key, this._algorithm, digestOf(this), isKey(privateKey) ? undefined : privateKey);
    return encoding && encoding !== "buffer" ? out.toString(encoding) : out;
  });
  const Verify = signer("Verify", function (key, signature, encoding) {
    if (!key) throw errors.make("Error", "ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign");
    if (!isKey(key)) signingOptions(key);
    const bytes = typeof signature === "string" ? Buffer.from(signature, encoding) : signature;
    const k = keyOf(key, false);
    if (!isBytes(bytes)) throw new p.TypeError("Failed to execute 'verify' on 'VerifyHandle': parameter 2 is not of type 'BufferSource'.");
    return verify(k, this._algorithm, digestOf(this), isKey(key) ? undefined : key, bytes);
  });
  // What a one-shot signature is computed over: [algorithm, data].
  const over = (key, algorithm, data) => {
    if (key.asymmetricKeyType === "ed25519") {
      if (algorithm !== undefined && algorithm !== null && !native.getHashes().includes(algorithm.toLowerCase())) throw new Error(`Unknown digest: ${algorithm}`);
      return [algorithm ?? undefined, data];
    }
    if (algorithm === undefined || algorithm === null) throw new Error("Failed to initialize signing context");
    try { return [algorithm, native.hashOnce(algorithm, data)]; } catch { throw new Error(`Unknown digest: ${algorithm}`); }
  };
  const checkOver = (algorithm, data) => {
    if (algorithm !== undefined && algorithm !== null) errors.string(algorithm, "algorithm");
    if (!isBytes(data)) throw errors.argType("data", "an instance of Buffer, TypedArray, or DataView", data);
  };
  const oneSign = (algorithm, data, key) => {
    checkOver(algorithm, data);
    if (!key) throw errors.make("Error", "ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign");
    const k = keyOf(key, true);
    if (!isKey(key)) signingOptions(key);
    return sign(k, ...over(k, algorithm, data), once(key));
  };
  const oneVerify = (algorithm, data, key, signature) => {
    checkOver(algorithm, data);
    if (!key) throw errors.make("Error", "ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign");
    if (!isBytes(signature)) throw errors.argType("signature", "an instance of Buffer, TypedArray, or DataView", signature);
    const k = keyOf(key, false);
    if (!isKey(key)) signingOptions(key);
    return verify(k, ...over(k, algorithm, data), once(key), signature);
  };

  const rsa = (what, isPrivate, usual) => (key, data) => {
    if (key === undefined || key === null) throw errors.make("TypeError", "ERR_MISSING_ARGS", 'The "key" argument must be specified');
    if (data === undefined || data === null) throw errors.make("TypeError", "ERR_MISSING_ARGS", 'The "buffer" argument must be specified');
    const o = isKey(key) || isBytes(key) || typeof key !== "object" ? {} : key;
    if (o.oaepHash !== undefined) errors.string(o.oaepHash, "options.oaepHash");
    if (o.oaepLabel !== undefined && typeof o.oaepLabel !== "string" && !isBytes(o.oaepLabel)) {
      throw errors.argType("options.oaepLabel", "of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer", o.oaepLabel);
    }
    const bytes = typeof data === "string" ? Buffer.from(data, o.encoding) : data;
    const label = typeof o.oaepLabel === "string" ? Buffer.from(o.oaepLabel, o.encoding) : o.oaepLabel;
    return native.rsaCrypt(what, keyOf(key, isPrivate, true), bytes, o.padding ?? usual, o.oaepHash, label);
  };

  // Key agreement.
  const numberOf = (value, encoding, name) => {
    if (typeof value === "string") return Buffer.from(value, encoding);
    if (!isBytes(value)) throw errors.argType(name, "of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView", value);
    return value;
  };
  const encoded = (bytes, encoding) => (encoding && encoding !== "buffer" ? bytes.toString(encoding) : bytes);
  // What DiffieHellman and DiffieHellmanGroup hold: prime, generator and keys.
  const agreements = new p.WeakMap();
  const agreementOf = (object) => {
    const self = agreements.get(object);
    if (self === undefined) throw errors.make("TypeError", "ERR_INVALID_THIS", 'Value of "this" must be of type DiffieHellman');
    return self;
  };
  const uncomputed = (C, text) => new C(`DiffieHellman computeSecret() failed: ${text}`);
  const agreement = {
    generateKeys(encoding) {
      const self = agreementOf(this);
      self.private ??= native.dhPrivate(self.prime);
      self.public = native.modPow(self.generator, self.private, self.prime);
      return encoded(self.public, encoding);
    },
    computeSecret(other, inputEncoding, outputEncoding) {
      const self = agreementOf(this);
      const key = numberOf(other, inputEncoding, "key");
      if (key.byteLength === 0) throw uncomputed(Error, "invalid key");
      if (!self.private) throw uncomputed(Error, "error computing shared secret");
      const fit = native.dhFits(key, self.prime);
      if (fit !== 0) throw uncomputed(RangeError, `Supplied key is too ${fit < 0 ? "small" : "large"}`);
      const secret = native.modPow(key, self.private, self.prime);
      return encoded(Buffer.concat([Buffer.alloc(self.prime.length - secret.length), secret]), outputEncoding);
    },
    getPrime(encoding) { return encoded(Buffer.from(agreementOf(this).prime), encoding); },
    getGenerator(encoding) { return encoded(Buffer.from(agreementOf(this).generator), encoding); },
    getPublicKey(encoding) { return encoded(present(agreementOf(this).public, "public"), encoding); },
    getPrivateKey(encoding) { return encoded(present(agreementOf(this).private, "private"), encoding); },
  };
  const present = (key, kind) => {
    if (!key) throw new Error(`No ${kind} key`);
    return key;
  };
  const starting = (object, prime, generator) => {
    agreements.set(object, { prime, generator });
  };
  // verifyErrorOf are the flags of BoringSSL's DH_check.
  const verifyErrorOf = (object) => {
    const self = agreementOf(object);
    return self.verifyError ??= native.dhCheck(self.prime, self.generator);
  };
  const methods = (C, table) => {
    for (const name of p.ObjectKeys(table)) ObjectDefineProperty(C.prototype, name, { value: table[name], writable: true, configurable: true, enumerable: true });
    if (table.getPrime !== undefined) ObjectDefineProperty(C.prototype, "verifyError", { get() { return verifyErrorOf(this); }, configurable: true, enumerable: true });
  };
  const sizedBytes = (value, encoding, name) => {
    if (typeof value === "string" || isBytes(value)) return numberOf(value, encoding, name);
    throw errors.argType(name, "one of type number or string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView", value);
  };
  const generatorOf = (value, encoding) => {
    if (typeof value !== "number") return sizedBytes(value, encoding, "generator");
    errors.integer(value, "generator", -2147483648, 2147483647);
    const hex = p.MathMax(value, 0).toString(16);
    return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  };
  function DiffieHellman(sizeOrKey, keyEncoding, generator, generatorEncoding) {
    if (!(this instanceof DiffieHellman)) return new DiffieHellman(sizeOrKey, keyEncoding, generator, generatorEncoding);
    if (keyEncoding !== undefined && keyEncoding !== null && !Buffer.isEncoding(keyEncoding) && keyEncoding !== "buffer") { generatorEncoding = generator; generator = keyEncoding; keyEncoding = undefined; }
    if (typeof sizeOrKey === "number") {
      errors.integer(sizeOrKey, "sizeOrKey", -2147483648, 2147483647);
      if (sizeOrKey > 8192) throw new RangeError("DiffieHellman init failed: requested prime size too large");
      if (sizeOrKey < 2) throw new Error("DiffieHellman init failed: could not generate parameters");
    }
    const prime = typeof sizeOrKey === "number" ? native.dhPrime(sizeOrKey, typeof generator === "number" ? generator || 2 : 2) : sizedBytes(sizeOrKey, keyEncoding, "sizeOrKey");
    const g = generatorOf(generator || 2, generatorEncoding);
    if (native.dhFits(g, prime) < 0) throw typeof generator === "number" ? new RangeError("DiffieHellman init failed: generator too small") : new Error("DiffieHellman init failed: invalid generator");
    if (prime.length > 1024) throw new RangeError("DiffieHellman init failed: key is too large");
    if (prime.length === 0) throw new Error("DiffieHellman init failed: invalid key");
    if (native.dhFits(prime, Buffer.from([5])) < 0 || (prime[prime.length - 1] & 1) === 0) throw new Error("DiffieHellman init failed: Invalid DH prime generated");
    starting(this, prime, g);
  }
  methods(DiffieHellman, { ...agreement,
    setPublicKey(key, encoding) { agreementOf(this).public = numberOf(key, encoding, "key"); return this; },
    setPrivateKey(key, encoding) { agreementOf(this).private = numberOf(key, encoding, "key"); return this; },
  });
  function DiffieHellmanGroup(name) {
    if (!(this instanceof DiffieHellmanGroup)) return new DiffieHellmanGroup(name);
    const prime = native.dhGroup(`${name}`.toLowerCase());
    if (prime === undefined) throw new Error("Failed to init DiffieHellmanGroup: invalid group. Only groups {modp14, modp15, modp16, modp17, modp18} are supported.");
    starting(this, prime, Buffer.from([2]));
  }
  methods(DiffieHellmanGroup, agreement);
  const curveChecked = (curve, name) => {
    errors.string(curve, name);
    if (!["secp224r1", "prime256v1", "secp384r1", "secp521r1"].includes(curve)) throw new Error(curve === "secp256k1" ? "Failed to create key using named curve" : "Invalid curve");
  };
  const point = (key, encoding, format) => {
    if (format !== undefined && !["compressed", "uncompressed", "hybrid"].includes(format)) throw errors.argValue("format", format, "must be one of: 'compressed', 'uncompressed', 'hybrid'");
    if (format === "hybrid") throw new Error("Failed to get public key length"); // as in the reference
    return encoded(native.ecPoint(key, format), encoding);
  };
  // The curve and the key of an ECDH.
  const curves = new p.WeakMap();
  const keyed = (object) => {
    const self = curves.get(object);
    if (self === undefined) throw errors.make("TypeError", "ERR_INVALID_THIS", 'Value of "this" must be of type ECDH');
    return self;
  };
  const held = (key, kind) => { if (!key) throw new Error(`Failed to get ECDH ${kind} key`); return key; };
  const publicOn = (curve, key, encoding, name) => native.ecPublic(ObjectCreate(PublicKeyObject.prototype), curve, numberOf(key, encoding, name));
  function ECDH(curve) {
    if (!(this instanceof ECDH)) return new ECDH(curve);
    curveChecked(curve, "curveName");
    curves.set(this, { curve });
  }
  methods(ECDH, {
    generateKeys(encoding, format) {
      const self = keyed(this);
      self.key = native.ecPrivate(ObjectCreate(PrivateKeyObject.prototype), self.curve);
      return point(self.key, encoding, format);
    },
    computeSecret(other, inputEncoding, outputEncoding) {
      const self = keyed(this);
      const bytes = numberOf(other, inputEncoding, "key");
      if (!self.key) throw new Error("Invalid keypair");
      return encoded(native.agree(self.key, publicOn(self.curve, bytes)), outputEncoding);
    },
    getPublicKey(encoding, format) { const self = keyed(this); return point(held(self.key, "public"), encoding, format); },
    getPrivateKey(encoding) { return encoded(native.ecPrivate(held(keyed(this).key, "private")), encoding); },
    setPrivateKey(key, encoding) {
      const self = keyed(this);
      self.key = native.ecPrivate(ObjectCreate(PrivateKeyObject.prototype), self.curve, numberOf(key, encoding, "key"));
    },
  });
  ECDH.convertKey = function convertKey(key, curve, inputEncoding, outputEncoding, format) {
    if (typeof key !== "string" && !isBytes(key)) throw errors.argType("key", "of type string or an instance of Buffer, TypedArray, or DataView", key);
    curveChecked(curve, "curve");
    return point(publicOn(curve, key, inputEncoding, "key"), outputEncoding, format);
  };
  const agree = (options) => {
    errors.object(options, "options");
    const { privateKey, publicKey } = options;
    if (!isKey(publicKey)) throw errors.argType("options.publicKey", "an instance of KeyObject", publicKey);
    if (!isKey(privateKey)) throw errors.argType("options.privateKey", "an instance of KeyObject", privateKey);
    if (privateKey.type !== "private") throw errors.argType("options.privateKey", "private key", privateKey);
    const a = privateKey.asymmetricKeyType, b = publicKey.asymmetricKeyType;
    if (a === "dh" && b === "dh") {
      const own = agreed.get(privateKey), other = agreed.get(publicKey);
      if (!own.prime.equals(other.prime) || !own.generator.equals(other.generator)) throw new Error("Failed to compute the secret: the keys have different parameters");
      const secret = native.modPow(other.public, own.private, own.prime);
      return Buffer.concat([Buffer.alloc(own.prime.length - secret.length), secret]);
    }
    if (a !== b) throw errors.argValue("options.publicKey.asymmetricKeyType", b, "must equal privateKey.asymmetricKeyType");
    if (a !== "ec" && a !== "x25519") throw errors.make("Error", "ERR_CRYPTO_INCOMPATIBLE_KEY", `Incompatible key types for Diffie-Hellman: ${a} and ${b}`);
    return native.agree(privateKey, publicKey);
  };

  // called computes now, or for a callback; what is given as one and is none gets nothing.
  const called = (make, callback) => {
    if (callback === undefined) return make();
    const out = new p.Promise((resolve) => resolve(make()));
    out.then((value) => callback(null, value), (error) => callback(error));
    return undefined;
  };
  const group = (name) => new DiffieHellmanGroup(name);
  return {
    KeyObject, SecretKeyObject, PublicKeyObject, PrivateKeyObject, createSecretKey, createPrivateKey, createPublicKey,
    generateKeySync, generateKey: (type, options, callback) => called(() => generateKeySync(type, options), callback ?? null), generateKeyPairSync, generateKeyPair,
    Sign, Verify, createSign: (algorithm, options) => new Sign(algorithm, options), createVerify: (algorithm, options) => new Verify(algorithm, options),
    sign: (algorithm, data, key, callback) => { checkOver(algorithm, data); return called(() => oneSign(algorithm, data, key), callback); },
    verify: (algorithm, data, key, signature, callback) => { checkOver(algorithm, data); return called(() => oneVerify(algorithm, data, key, signature), callback); },
    publicEncrypt: rsa("publicEncrypt", false, 4), privateDecrypt: rsa("privateDecrypt", true, 4), privateEncrypt: rsa("privateEncrypt", true, 1), publicDecrypt: rsa("publicDecrypt", false, 1),
    DiffieHellman, DiffieHellmanGroup, ECDH, createDiffieHellman: (...args) => new DiffieHellman(...args), createDiffieHellmanGroup: group, getDiffieHellman: group,
    createECDH: (curve) => new ECDH(curve),
    diffieHellman: (options, callback) => (callback === undefined ? agree(options) : later(() => agree(options), callback)),
  };
}
