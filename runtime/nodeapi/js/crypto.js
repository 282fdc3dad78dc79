// node:crypto (nodejs.org/api/crypto.html). Digests, ciphers and derivations
// are in crypto*.go. What takes a callback computes at once and calls back in
// a microtask.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ObjectDefineProperty } = p;

  const streaming = native.require("internal/crypto_stream");

  const remember = (self, options) => { ObjectDefineProperty(self, "_options", { value: options, writable: true, configurable: true }); };

  function Hash(algorithm, options) {
    if (!(this instanceof Hash)) return new Hash(algorithm, options);
    if (algorithm instanceof Hash) native.hashCopy(algorithm, this); else native.hashState(this, algorithm);
    if (options !== undefined && options !== null) remember(this, options);
  }
  function Hmac(algorithm, key, options) {
    if (!(this instanceof Hmac)) return new Hmac(algorithm, key, options);
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
      ? function Decipheriv(algorithm, key, iv, options) { if (!(this instanceof C)) return new C(algorithm, key, iv, options); setup(this, algorithm, key, iv, options); }
      : function Cipheriv(algorithm, key, iv, options) { if (!(this instanceof C)) return new C(algorithm, key, iv, options); setup(this, algorithm, key, iv, options); };
    const setup = (self, algorithm, key, iv, options) => {
      native.cipherState(self, algorithm, key, iv, decrypt, options?.authTagLength);
      if (options !== undefined && options !== null) remember(self, options);
    };
    const common = {
      update(data, inputEncoding, outputEncoding) { return native.cipherUpdate(this, data, inputEncoding, outputEncoding); },
      final(encoding) { return native.cipherFinal(this, encoding); },
      setAutoPadding(on = true) { return native.cipherPadding(this, on); },
      setAAD(data) { return native.cipherAAD(this, data); },
      _transform(chunk, encoding, callback) { this.push(native.cipherUpdate(this, chunk, encoding)); callback(); },
      _flush(callback) {
        try { this.push(native.cipherFinal(this)); } catch (error) { callback(error); return; }
        callback();
      },
    };
    streaming(C, decrypt
      ? { ...common, setAuthTag(tag, encoding) { return native.cipherTag(this, tag, encoding); } }
      : { ...common, getAuthTag() { return native.cipherTag(this); } });
    return C;
  };
  const Cipheriv = cipherClass(false), Decipheriv = cipherClass(true);

  // later calls back in a microtask with the result, or the error, of make.
  const later = (make, callback) => {
    let result, error = null;
    try { result = make(); } catch (e) { error = e; }
    native.nextTick(() => (error ? callback(error) : callback(null, result)));
  };

  const sized = (size) => {
    errors.integer(size, "size");
    if (size < 0 || size > 2147483647) throw errors.range("size", ">= 0 && <= 2147483647", size);
    return native.fill(native.require("buffer").Buffer.alloc(size));
  };
  const randomBytes = (size, callback) => {
    if (callback === undefined) return sized(size);
    errors.func(callback, "callback");
    const bytes = sized(size);
    later(() => bytes, callback);
    return undefined;
  };

  const randomInt = (min, max, callback) => {
    if (max === undefined || typeof max === "function") { callback = max; max = min; min = 0; }
    if (!p.Number.isSafeInteger(min)) throw errors.argType("min", "a safe integer", min);
    if (!p.Number.isSafeInteger(max)) throw errors.argType("max", "a safe integer", max);
    if (max <= min) throw errors.range("min", "min < max", max);
    if (max - min > 2 ** 48 - 1) throw errors.range("max - min", "<= 281474976710655", max - min);
    const n = native.randomInt(min, max);
    if (callback === undefined) return n;
    errors.func(callback, "callback");
    native.nextTick(callback, null, n);
    return undefined;
  };

  const scryptOptions = (options = {}) => [
    options.N ?? options.cost ?? 16384, options.r ?? options.blockSize ?? 8, options.p ?? options.parallelization ?? 1, options.maxmem,
  ];

  const crypto = {
    Hash, Hmac, Cipheriv, Decipheriv,
    createHash: (algorithm, options) => new Hash(algorithm, options),
    createHmac: (algorithm, key, options) => new Hmac(algorithm, key, options),
    createCipheriv: (algorithm, key, iv, options) => new Cipheriv(algorithm, key, iv, options),
    createDecipheriv: (algorithm, key, iv, options) => new Decipheriv(algorithm, key, iv, options),
    hash: (algorithm, data, encoding = "hex") => native.hashOnce(algorithm, data, encoding),
    getHashes: native.getHashes,
    getCiphers: native.getCiphers,
    getCipherInfo(nameOrNid) {
      const row = native.cipherInfo(nameOrNid);
      if (row === undefined) return undefined;
      const [name, nid, blockSize, ivLength, keyLength, mode] = row;
      return { name, nid, blockSize, ivLength, keyLength, mode };
    },
    getCurves: () => ["secp224r1", "prime256v1", "secp384r1", "secp521r1"],
    randomBytes,
    pseudoRandomBytes: randomBytes,
    randomFillSync: (buffer, offset, size) => native.fill(buffer, offset, size),
    randomFill(buffer, offset, size, callback) {
      if (typeof offset === "function") { callback = offset; offset = size = undefined; }
      else if (typeof size === "function") { callback = size; size = undefined; }
      errors.func(callback, "callback");
      later(() => native.fill(buffer, offset, size), callback);
    },
    randomInt,
    randomUUID: () => native.randomUUID(),
    timingSafeEqual: native.timingSafeEqual,
    pbkdf2Sync: native.pbkdf2,
    pbkdf2(password, salt, iterations, length, digest, callback) {
      if (typeof digest === "function") { callback = digest; digest = undefined; }
      errors.func(callback, "callback");
      const key = native.pbkdf2(password, salt, iterations, length, digest);
      native.nextTick(callback, null, key);
    },
    scryptSync: (password, salt, length, options) => native.scrypt(password, salt, length, ...scryptOptions(options)),
    scrypt(password, salt, length, options, callback) {
      if (typeof options === "function") { callback = options; options = undefined; }
      errors.func(callback, "callback");
      later(() => native.scrypt(password, salt, length, ...scryptOptions(options)), callback);
    },
    hkdfSync: native.hkdf,
    hkdf(digest, key, salt, info, length, callback) {
      errors.func(callback, "callback");
      const out = native.hkdf(digest, key, salt, info, length);
      native.nextTick(callback, null, out);
    },
    checkPrimeSync: (candidate) => native.isPrime(candidate),
    checkPrime(candidate, options, callback = options) { later(() => native.isPrime(candidate), callback); },
    generatePrimeSync(size, options) { return prime(size, options); },
    generatePrime(size, options, callback = options) { later(() => prime(size, typeof options === "function" ? undefined : options), callback); },
    constants: { __proto__: null },
    fips: true,
    getFips: () => true,
    secureHeapUsed: () => ({ total: 0, used: 0, utilization: 0, min: 0 }),
  };
  const prime = (size, options) => {
    const big = (v) => (v === undefined || typeof v === "bigint" ? v : p.BigInt(`0x${native.require("buffer").Buffer.from(v).toString("hex")}`));
    const n = native.randomPrime(size, options?.safe, big(options?.add), big(options?.rem));
    if (options?.bigint) return n;
    let hex = n.toString(16);
    if (hex.length % 2) hex = `0${hex}`;
    return new p.Uint8Array(native.require("buffer").Buffer.from(hex, "hex")).buffer;
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
