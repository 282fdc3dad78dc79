// Pipelines (miniflare: workers/pipelines). Writing is Go.
function (native, p) {
  "use strict";
  const { JSONStringify, ArrayIsArray } = p;
  return () => {
    class Pipeline {
      async send(records) {
        let lines = "";
        const list = ArrayIsArray(records) ? records : [records];
        for (let i = 0; i < list.length; i++) lines += (JSONStringify(list[i]) ?? "null") + "\n";
        await native.call("send", lines);
      }
    }
    return new Pipeline();
  };
}
