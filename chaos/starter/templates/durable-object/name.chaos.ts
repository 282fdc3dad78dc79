// What {{name}} must survive. Run it with: minido chaos enumerate
import { scenario, sometimes } from "minido:chaos";

export default scenario("{{name}} survives", {
  async drive({ fetch }) {
    await fetch("POST", "/first"); // nobody asks again: the job's alarm has to finish it
  },
  check({ db, history, expect }) {
    // Who was told that the job has started finds every step done, once. A kill before the answer may leave no job.
    if (history.returns("POST /first").length > 0) {
      const steps = db("Job", "first").all<{ name: string }>("SELECT name FROM steps ORDER BY rowid");
      expect(steps.map((step) => step.name)).toEqual(["search", "read", "summarize"]);
    }
    sometimes("killed in an alarm", history.killsAt("/alarm").length > 0);
  },
});
