// Analytics Engine datasets (miniflare: workers/analytics-engine). Writing is Go.
function (native) {
  "use strict";
  return (dataset) => {
    class LocalAnalyticsEngineDataset {
      constructor(env) { this.env = env; }
      writeDataPoint(event) {
        this.env; // what is called without its binding is refused, as there
        native.write(event);
      }
    }
    return new LocalAnalyticsEngineDataset({ dataset });
  };
}
