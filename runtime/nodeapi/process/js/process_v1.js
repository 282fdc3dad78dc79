// node:process as workerd has it without enable_nodejs_process_v2: six properties
// (workerd: src/node/internal/legacy_process.ts).
function (native, p) {
  "use strict";
  const whole = native.require("process"), features = {};
  for (const name of p.ObjectKeys(whole.features).sort()) features[name] = whole.features[name];
  return {
    nextTick: whole.nextTick,
    env: whole.env,
    exit: whole.exit,
    getBuiltinModule: whole.getBuiltinModule,
    platform: whole.platform,
    features: p.ObjectFreeze(features),
  };
}
