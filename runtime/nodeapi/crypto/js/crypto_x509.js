// X509Certificate and Certificate of node:crypto (nodejs.org/api/crypto.html).
// Parsing and checks of signatures are in crypto_x509.go.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { ObjectCreate, ObjectDefineProperty } = p;
  const { Buffer } = native.require("buffer");
  const { PublicKeyObject, PrivateKeyObject } = native.require("internal/crypto_keys");

  const known = new p.WeakMap();
  const fieldsOf = (self) => {
    const fields = known.get(self);
    if (fields === undefined) throw errors.make("TypeError", "ERR_INVALID_THIS", 'Value of "this" must be of type X509Certificate');
    return fields;
  };
  const optionsOf = (options) => {
    if (options === undefined || options === null) return {};
    if (typeof options !== "object") throw errors.argType("options", "of type object", options);
    if (options.subject !== undefined) {
      errors.string(options.subject, "options.subject");
      if (!["default", "always", "never"].includes(options.subject)) throw errors.argValue("options.subject", options.subject, "is invalid");
    }
    for (const name of ["wildcards", "partialWildcards", "multiLabelWildcards", "singleLabelSubdomains"]) {
      if (options[name] !== undefined && typeof options[name] !== "boolean") throw errors.argType(`options.${name}`, "of type boolean", options[name]);
    }
    return options;
  };
  // matching are the names that a check may look at: those of the subject only
  // where there are no alternative ones, unless the options say otherwise.
  const matching = (names, ofSubject, { subject = "default" }) =>
    (subject === "always" || (subject === "default" && names.length === 0) ? [...names, ...ofSubject] : names);
  const hostMatches = (pattern, host, { wildcards = true }) => {
    if (pattern.toLowerCase() === host.toLowerCase()) return true;
    if (!wildcards || !pattern.startsWith("*.") || pattern.split(".").length < 3) return false;
    const dot = host.indexOf(".");
    return dot > 0 && host.slice(dot).toLowerCase() === pattern.slice(1).toLowerCase();
  };
  const emailMatches = (entry, email) => {
    const at = entry.lastIndexOf("@");
    return entry.slice(0, at) === email.slice(0, at) && entry.slice(at).toLowerCase() === email.slice(at).toLowerCase();
  };

  class X509Certificate {
    #publicKey;
    constructor(buffer) {
      if (typeof buffer === "string") buffer = Buffer.from(buffer);
      if (!native.isView(buffer)) throw errors.argType("buffer", "of type string or an instance of Buffer, TypedArray, or DataView", buffer);
      if (!native.parse(this, buffer)) throw errors.make("TypeError", "ERR_INVALID_ARG_VALUE", `The argument 'buffer' is not a valid certificate. Received ${native.require("util").inspect(buffer)}`);
      known.set(this, native.fields(this));
    }
    get publicKey() {
      fieldsOf(this);
      this.#publicKey ??= native.publicKey(this, ObjectCreate(PublicKeyObject.prototype));
      return this.#publicKey;
    }
    get issuerCertificate() { fieldsOf(this); return undefined; }
    toString() { return fieldsOf(this).pem; }
    toJSON() { return fieldsOf(this).pem; }
    checkHost(name, options) {
      errors.string(name, "name");
      const o = optionsOf(options), { names } = fieldsOf(this);
      return matching(names.dns, names.subjectName, o).find((pattern) => hostMatches(pattern, name, o));
    }
    checkEmail(email, options) {
      errors.string(email, "email");
      const o = optionsOf(options), { names } = fieldsOf(this);
      return matching(names.email, names.subjectEmail, o).some((entry) => emailMatches(entry, email)) ? email : undefined;
    }
    checkIP(ip, options) {
      errors.string(ip, "ip");
      optionsOf(options);
      return native.checkIP(this, ip) ? ip : undefined;
    }
    checkIssued(otherCert) {
      if (!(otherCert instanceof X509Certificate)) throw errors.argType("otherCert", "an instance of X509Certificate", otherCert);
      return native.issued(this, otherCert);
    }
    checkPrivateKey(pkey) {
      if (!(pkey instanceof PrivateKeyObject)) throw errors.argType("pkey", "an instance of KeyObject", pkey);
      return native.belongs(this, pkey);
    }
    verify(pkey) {
      if (!(pkey instanceof PublicKeyObject)) throw errors.argType("pkey", "an instance of KeyObject", pkey);
      return native.verify(this, pkey);
    }
    toLegacyObject() {
      const f = fieldsOf(this), { modulus, bits, exponent, pubkey, asn1Curve, nistCurve } = native.legacy(this);
      const infoAccess = {};
      for (const line of f.infoAccess?.split("\n") ?? []) {
        const colon = line.indexOf(":");
        if (colon > 0) (infoAccess[line.slice(0, colon)] ??= []).push(line.slice(colon + 1));
      }
      return {
        subject: f.subjectParts, subjectAltName: f.subjectAltName ?? "", infoAccess, issuer: f.issuerParts, ca: f.ca,
        modulus, bits, exponent, pubkey, asn1Curve, nistCurve, valid_from: f.validFrom, valid_to: f.validTo,
        fingerprint: f.fingerprint, fingerprint256: f.fingerprint256, fingerprint512: f.fingerprint512,
        serialNumber: f.serialNumber, ext_key_usage: f.keyUsage, raw: f.raw,
      };
    }
  }
  for (const name of ["subject", "issuer", "subjectAltName", "infoAccess", "validFrom", "validTo", "fingerprint", "fingerprint256", "fingerprint512", "keyUsage", "serialNumber", "ca", "raw"]) {
    ObjectDefineProperty(X509Certificate.prototype, name, { configurable: true, get() { return fieldsOf(this)[name]; } });
  }

  const signed = (spkac, encoding) => {
    if (typeof spkac === "string") spkac = Buffer.from(spkac, encoding);
    else if (!native.isView(spkac) && !(spkac instanceof p.ArrayBuffer)) throw errors.argType("spkac", "of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView", spkac);
    return native.spkac(spkac) ?? [false, Buffer.alloc(0), Buffer.alloc(0)];
  };
  function Certificate() { if (!(this instanceof Certificate)) return new Certificate(); }
  for (const [i, name] of ["verifySpkac", "exportChallenge", "exportPublicKey"].entries()) {
    const method = { [name]: (spkac, encoding) => signed(spkac, encoding)[i] }[name];
    Certificate[name] = Certificate.prototype[name] = method;
  }
  return { X509Certificate, Certificate };
}
