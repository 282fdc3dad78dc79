// What the web platform does with bytes and text, many times within one request.

const url = "https://user:pa%20ss@sub.example.com:8443/a/./b/../c%20d?q=1&r=%C3%A9&s=x+y#frag";
const megabyte = new Uint8Array(1 << 20).map((_, i) => 32 + (i % 90));

// 100 KB of JSON: an array of records.
const records = Array.from({ length: 900 }, (_, id) => ({ id, name: `record ${id}`, tags: ["a", "b", "ç"], nested: { on: id % 2 === 0, ratio: id / 7, none: null } }));
let json: string | undefined;

/** Does one thing many times; a stream's times are chunks. */
export async function platform(what: string, times: number): Promise<number> {
  let seen = 0;
  json ??= JSON.stringify(records);
  switch (what) {
    case "url":
      for (let i = 0; i < times; i++) seen += new URL(url).pathname.length;
      break;
    case "headers":
      for (let i = 0; i < times; i++) {
        const headers = new Headers({ "Content-Type": "text/plain", Accept: "*/*", "X-One": "1" });
        headers.append("Accept", "text/html");
        headers.set("x-one", "2");
        seen += (headers.get("accept") ?? "").length + [...headers].length;
      }
      break;
    case "parse":
      for (let i = 0; i < times; i++) seen += JSON.parse(json).length;
      break;
    case "stringify":
      for (let i = 0; i < times; i++) seen += JSON.stringify(records).length;
      break;
    case "decode":
      for (let i = 0; i < times; i++) seen += new TextDecoder().decode(megabyte).length;
      break;
    case "sha256":
      for (let i = 0; i < times; i++) seen += (await crypto.subtle.digest("SHA-256", megabyte)).byteLength;
      break;
    case "chunks": {
      let left = times;
      const stream = new ReadableStream<number>({ pull: (c) => (left-- > 0 ? c.enqueue(1) : c.close()) });
      for await (const chunk of stream.pipeThrough(new TransformStream<number, number>())) seen += chunk;
      break;
    }
    default:
      return -1;
  }
  return seen;
}
