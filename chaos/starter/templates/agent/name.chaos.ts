// What {{name}} must survive. Run it with: minido chaos enumerate
import { agent, scenario, sometimes } from "minido:chaos";

const a1 = agent("ResearchAgent", "a1");

export default scenario("{{name}} survives", {
  vars: { STEP_MS: 60, KEEP_ALIVE_MS: 300 }, // make the work short: a run should take about a second
  async drive({ rpc }) {
    await rpc(a1, "startResearch", ["tides"]); // nobody asks again: the fiber's own alarm has to finish it
  },
  check({ db, history, expect }) {
    if (history.returns("startResearch").length > 0) {
      expect(db("ResearchAgent", "a1").all("SELECT answer FROM answers")).toEqual([{ answer: "search tides; read tides; summarize tides" }]);
    }
    sometimes("killed while the fiber slept between two steps", history.killsAt("/timer").length > 0);
  },
});
