// Analytics Engine datasets (miniflare: workers/analytics-engine). Writing is Go.
function (native) {
  "use strict";
  return (dataset) => {
    class LocalAnalyticsEngineDataset {
      constructor(env) { this.env = env; }
      writeDataPoint(event) { native.write(event); }
    }
    return new LocalAnalyticsEngineDataset({ dataset });
  };
}
