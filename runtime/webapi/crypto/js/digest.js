// crypto.DigestStream: a WritableStream whose digest is known when it closes.
function (native, p) {
  "use strict";
  const { TypeError, Promise } = p;

  class DigestStream extends native.WritableStream {
    #hash;
    #digest;
    #reject;
    constructor(algorithm = undefined) {
      if (arguments.length === 0) throw new TypeError("Failed to construct 'DigestStream': constructor parameter 1 is not of type 'string or HashAlgorithm'.");
      const hash = native.hash(algorithm);
      let resolve, reject;
      const digest = new Promise((res, rej) => { resolve = res; reject = rej; });
      super({
        write(chunk) {
          if (!hash.write(chunk)) {
            throw new TypeError("DigestStream is a byte stream but received an object of non-ArrayBuffer/ArrayBufferView/string type on its writable side.");
          }
        },
        close() { resolve(hash.sum()); },
        abort(reason) { reject(reason); },
      });
      this.#hash = hash;
      this.#digest = digest;
      this.#reject = reject;
    }
    get digest() { return this.#digest; }
    get bytesWritten() { return this.#hash.written(); }
    [p.SymbolDispose]() { this.#reject(new TypeError("The DigestStream was disposed.")); }
  }
  for (const name of ["digest", "bytesWritten"]) {
    p.ReflectDefineProperty(DigestStream.prototype, name, { enumerable: true });
  }
  p.tag(DigestStream, "DigestStream");
  return DigestStream;
}
