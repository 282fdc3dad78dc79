// What {{name}} must survive. Run it with: minido chaos enumerate
import { scenario, sometimes } from "minido:chaos";

export default scenario("{{name}} survives", {
  async drive({ fetch }) {
    await fetch("POST", "/first"); // nobody asks again: the job's alarm has to finish it
  },
  check({ db, history, expect }) {
    // A kill before the first write leaves no job; after it, every step happens, once.
    const steps = history.returns("/first").length > 0 ? db("Job", "first").all("SELECT name FROM steps") : [];
    if (history.returns("/first").length > 0) expect(steps.map((step) => step.name)).toEqual(["search", "read", "summarize"]);
    sometimes("killed in an alarm", history.killsAt("/alarm").length > 0);
  },
});
