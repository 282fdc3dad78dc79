// node:crypto (nodejs.org/api/crypto.html). Digests, ciphers and derivations
// are in crypto*.go.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ObjectDefineProperty } = p;

  const streaming = native.require("internal/crypto_stream");
  const later = native.require("internal/crypto_later");

  const remember = (self, options) => { ObjectDefineProperty(self, "_options", { value: options, writable: true, configurable: true }); };

  function Hash(algorithm, options) {
    if (!(this instanceof Hash)) return new Hash(algorithm, options);
    const length = options?.outputLength;
    if (length !== undefined) errors.uint32(length, "options.outputLength");
    if (algorithm instanceof Hash) native.hashCopy(algorithm, this); else native.hashState(this, algorithm);
    if (length !== undefined && length !== native.hashSize(this)) throw errors.make("Error", "ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH", "invalid digest size");
    if (options !== undefined && options !== null) remember(this, options);
  }
  function Hmac(algorithm, key, options) {
    if (!(this instanceof Hmac)) return new Hmac(algorithm, key, options);
    if (typeof key === "string" && typeof options?.encoding === "string") key = native.require("buffer").Buffer.from(key, options.encoding);
    native.hmacState(this, algorithm, key);
    if (options !== undefined && options !== null) remember(this, options);
  }
  const digesting = {
    update(data, encoding) { return native.hashUpdate(this, data, encoding); },
    digest(encoding) { return native.hashDigest(this, encoding); },
    _transform(chunk, encoding, callback) {
      native.hashUpdate(this, chunk, encoding);
      callback();
    },
    _flush(callback) {
      this.push(native.hashDigest(this));
      callback();
    },
  };
  streaming(Hash, { ...digesting, copy(options) { return new Hash(this, options); } });
  streaming(Hmac, digesting);

  const cipherClass = (decrypt) => {
    const C = decrypt
      ? function Decipheriv(algorithm, key, iv, options) { if (this instanceof C) setup(this, algorithm, key, iv, options); }
      : function Cipheriv(algorithm, key, iv, options) { if (this instanceof C) setup(this, algorithm, key, iv, options); };
    const setup = (self, algorithm, key, iv, options) => {
      native.cipherState(self, algorithm, key, iv, decrypt, options?.authLengthTag); // the reference's name
      if (options !== undefined && options !== null) remember(self, options);
    };
    const common = {
      update(data, inputEncoding, outputEncoding) { return native.cipherUpdate(this, data, inputEncoding, outputEncoding); },
      final(encoding) { return native.cipherFinal(this, encoding); },
      setAutoPadding(on) { return native.cipherPadding(this, on); }, // off without an argument, as in the reference
      setAAD(data, options = {}) {
        errors.object(options, "options");
        const { plaintextLength, encoding } = options;
        if (plaintextLength !== undefined) errors.integer(plaintextLength, "options.plaintextLength", 0, 4294967295);
        if (encoding !== undefined) errors.string(encoding, "options.encoding");
        if (typeof data === "string") data = native.require("buffer").Buffer.from(data, encoding);
        return isBytes(data) ? native.cipherAAD(this, data) : this;
      },
      _transform(chunk, encoding, callback) { this.push(native.cipherUpdate(this, chunk, encoding)); callback(); },
      _flush(callback) {
        try { this.push(native.cipherFinal(this)); } catch (error) { callback(error); return; }
        callback();
      },
    };
    streaming(C, decrypt
      ? { ...common, setAuthTag(tag) { return native.cipherTag(this, tag); } }
      : { ...common, getAuthTag() { return native.cipherTag(this); } });
    return C;
  };
  const Cipheriv = cipherClass(false), Decipheriv = cipherClass(true);

  const sized = (size) => {
    errors.integer(size, "size", 0, 2147483647);
    return native.fill(native.require("buffer").Buffer.alloc(size));
  };
  const randomBytes = (size, callback) => {
    if (callback === undefined) return sized(size);
    errors.integer(size, "size", 0, 2147483647);
    if (typeof callback !== "function") throw errors.argType("callback", "of type function", undefined);
    later(() => sized(size), callback);
    return undefined;
  };
  const fillable = (buffer) => {
    if (!isBytes(buffer)) throw errors.argType("buffer", "an instance of TypedArray, DataView, ArrayBuffer, or SharedArrayBuffer", buffer);
    return buffer.length ?? buffer.byteLength;
  };
  // randomFillSync gives the part that it filled, as in the reference.
  const randomFillSync = (buffer, offset, size) => {
    const length = fillable(buffer);
    if (offset !== undefined) errors.integer(offset, "offset", 0, 2147483647);
    offset ??= 0;
    if (size !== undefined) errors.integer(size, "size", 0, length - offset);
    const { Buffer } = native.require("buffer");
    const items = buffer.subarray ? buffer : Buffer.from(buffer.buffer ?? buffer, buffer.byteOffset, buffer.byteLength);
    return native.fill(items.subarray(offset, offset + (size ?? length)));
  };

  const randomInt = (min, max, callback) => {
    if (typeof callback !== "function" && (max === undefined || typeof max === "function" || callback !== undefined)) { callback = typeof max === "function" ? max : callback; max = min; min = 0; }
    errors.integer(min, "min");
    errors.integer(max, "max");
    if (max <= min) throw errors.range("min", "min < max", min);
    const draw = () => {
      if (max - min > 2 ** 48 - 1) throw errors.range(max ? "max" : "max - min", "<= 281474976710655", max - min);
      return native.randomInt(min, max);
    };
    if (callback === undefined) return draw();
    new p.Promise((resolve) => resolve(draw())).then((n) => callback(null, n), (error) => callback(error));
    return undefined;
  };

  // scryptParams are N, r, p and maxmem; each but the last has two names.
  const scryptParams = (options) => {
    const one = (short, long, usual) => {
      for (const name of [short, long]) if (options?.[name] !== undefined) {
        errors.uint32(options[name], name);
      }
      if (options?.[short] !== undefined && options?.[long] !== undefined) {
        throw errors.argValue(long, options[long]);
      }
      return (options?.[short] ?? options?.[long]) || usual;
    };
    const params = [one("N", "cost", 16384), one("r", "blockSize", 8), one("p", "parallelization", 1)];
    if (options?.maxmem !== undefined) errors.integer(options.maxmem, "maxmem", 0);
    return [...params, options?.maxmem || undefined];
  };
  const isBytes = (v) => native.isView(v) || v instanceof p.ArrayBuffer;
  // big reads an unsigned number as the functions of primes take it.
  const big = (v, name) => {
    if (typeof v === "bigint") {
      if (v < 0n) throw errors.range(name, ">= 0", v);
      return v;
    }
    if (!isBytes(v)) throw errors.argType(name, "of type bigint or an instance of ArrayBuffer, TypedArray, Buffer, or DataView", v);
    return native.bigOf(v);
  };
  const isPrime = (candidate, options = {}) => {
    const n = big(candidate, "candidate");
    errors.object(options, "options");
    if (options.checks !== undefined) errors.integer(options.checks, "options.checks", 0, 2147483647);
    if (options.checks > 64) throw new RangeError("Invalid number of checks");
    if (n >= 1n << 8192n) throw new RangeError("checkPrime candidate exceeds maximum size");
    return native.isPrime(n);
  };
  const primeOptions = (options) => {
    errors.object(options, "options");
    const { safe, bigint, add, rem } = options;
    if (safe !== undefined) errors.bool(safe, "options.safe");
    if (bigint !== undefined) errors.bool(bigint, "options.bigint");
    if (add !== undefined) big(add, "options.add");
    if (rem !== undefined) big(rem, "options.rem");
  };
  const prime = (size, options = {}) => {
    errors.integer(size, "size", 1, 2147483647);
    primeOptions(options);
    const { safe, bigint, add } = options;
    if (add !== undefined) throw new RangeError("Invalid values for add and rem"); // the reference takes none
    const n = native.randomPrime(size, safe);
    if (bigint) return n;
    let hex = n.toString(16);
    if (hex.length % 2) hex = `0${hex}`;
    return new p.Uint8Array(native.require("buffer").Buffer.from(hex, "hex")).buffer;
  };
  // ivFits reports whether a cipher takes an initialization vector of a length.
  const ivFits = (mode, usual, length) => (mode === "gcm" ? length > 0 : mode === "stream" ? length > 0 && length <= 12 : length === usual);

  const crypto = {
    Hash, Hmac, Cipheriv, Decipheriv,
    createHash: (algorithm, options) => new Hash(algorithm, options),
    createHmac: (algorithm, key, options) => new Hmac(algorithm, key, options),
    createCipheriv: (algorithm, key, iv, options) => new Cipheriv(algorithm, key, iv, options),
    createDecipheriv: (algorithm, key, iv, options) => new Decipheriv(algorithm, key, iv, options),
    hash(algorithm, data, outputEncoding = "hex") {
      errors.string(algorithm, "algorithm");
      errors.string(outputEncoding, "outputEncoding");
      if (outputEncoding !== "buffer" && !native.require("buffer").Buffer.isEncoding(outputEncoding)) throw errors.make("TypeError", "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${outputEncoding}`);
      return native.hashOnce(algorithm, data, outputEncoding);
    },
    getHashes: native.getHashes,
    getCiphers: native.getCiphers,
    getCipherInfo(nameOrId, options) {
      if (typeof nameOrId !== "string" && typeof nameOrId !== "number") throw errors.argType("nameOrId", "one of type string or number", nameOrId);
      if (options !== undefined) errors.object(options, "options");
      const row = native.cipherInfo(nameOrId);
      if (row === undefined) return undefined;
      const [name, nid, blockSize, ivLength, keyLength, mode] = row;
      const { keyLength: wanted = keyLength, ivLength: iv = ivLength } = options ?? {};
      if (wanted !== keyLength || (iv !== ivLength && !ivFits(mode, ivLength, iv))) return undefined;
      return { name, nid, blockSize, ivLength: iv, keyLength, mode };
    },
    getCurves: () => ["secp224r1", "prime256v1", "secp384r1", "secp521r1"],
    randomBytes,
    pseudoRandomBytes: randomBytes,
    randomFillSync,
    randomFill(buffer, offset, size, callback) {
      const length = fillable(buffer);
      if (typeof callback === "function") {
        errors.integer(offset, "offset", 0, length);
        errors.integer(size, "size", 0, length - offset);
      } else if (typeof size === "function") {
        callback = size;
        errors.integer(offset, "offset", 0, length);
        size = length - offset;
      } else if (typeof offset === "function") {
        callback = offset;
        offset = 0;
        size = length;
      }
      errors.func(callback, "callback");
      later(() => { randomFillSync(buffer, offset, size); return buffer; }, callback);
    },
    randomInt,
    randomUUID(options) {
      if (options !== undefined) errors.object(options, "options");
      if (options?.disableEntropyCache !== undefined) errors.bool(options.disableEntropyCache, "options.disableEntropyCache");
      return native.randomUUID();
    },
    timingSafeEqual: native.timingSafeEqual,
    pbkdf2Sync: native.pbkdf2,
    pbkdf2(password, salt, iterations, length, digest, callback) {
      if (typeof digest === "function") { callback = digest; digest = undefined; }
      errors.func(callback, "callback");
      const key = native.pbkdf2(password, salt, iterations, length, digest);
      native.nextTick(callback, null, key);
    },
    scryptSync: (password, salt, length, options) => native.scrypt(password, salt, length, ...scryptParams(options)),
    scrypt(password, salt, length, options, callback) {
      if (callback === undefined) { callback = options; options = undefined; }
      later(() => native.scrypt(password, salt, length, ...scryptParams(options)), callback);
    },
    hkdfSync: native.hkdf,
    hkdf(digest, key, salt, info, length, callback) {
      errors.func(callback, "callback");
      later(() => native.hkdf(digest, key, salt, info, length), callback);
    },
    checkPrimeSync: isPrime,
    checkPrime(candidate, options, callback) {
      if (typeof options === "function") { callback = options; options = {}; }
      big(candidate, "candidate");
      errors.object(options, "options");
      later(() => isPrime(candidate, options), callback);
    },
    generatePrimeSync: prime,
    generatePrime(size, options, callback) {
      errors.integer(size, "size", 1, 2147483647);
      if (typeof options === "function") { callback = options; options = {}; }
      errors.func(callback, "callback");
      primeOptions(options);
      later(() => prime(size, options), callback);
    },
    constants: native.require("internal/constants").crypto,
    fips: true,
    getFips: () => true,
    secureHeapUsed: () => ({ total: 0, used: 0, utilization: 0, min: 0 }),
  };
  for (const name of ["KeyObject", "SecretKeyObject", "PublicKeyObject", "PrivateKeyObject", "createSecretKey", "createPrivateKey", "createPublicKey",
    "generateKey", "generateKeySync", "generateKeyPair", "generateKeyPairSync", "Sign", "Verify", "createSign", "createVerify", "sign", "verify",
    "publicEncrypt", "publicDecrypt", "privateEncrypt", "privateDecrypt", "DiffieHellman", "DiffieHellmanGroup", "ECDH", "createDiffieHellman",
    "createDiffieHellmanGroup", "getDiffieHellman", "createECDH", "diffieHellman"]) native.lazy(crypto, name, () => native.require("internal/crypto_keys")[name]);
  for (const name of ["X509Certificate", "Certificate"]) native.lazy(crypto, name, () => native.require("internal/crypto_x509")[name]);
  for (const [name, get] of p.ObjectEntries({
    webcrypto: () => globalThis.crypto,
    subtle: () => globalThis.crypto.subtle,
    getRandomValues: () => (array) => globalThis.crypto.getRandomValues(array),
    CryptoKey: () => globalThis.CryptoKey,
  })) native.lazy(crypto, name, get);
  return crypto;
}
