// The hello world binding (miniflare: workers/hello-world).
function () {
  "use strict";
  return {
    object: (DurableObject) => class HelloWorldObject extends DurableObject {
      async get() { return this.ctx.storage.get("value"); }
      async set(value) { await this.ctx.storage.put("value", value); }
    },
    binding: (stub, timer) => {
      class HelloWorldBinding {
        async get() { return { value: (await stub.get()) ?? "", ms: timer ? 100 : undefined }; }
        async set(value) { await stub.set(value); }
      }
      return new HelloWorldBinding();
    },
  };
}
