// The Workflow binding (miniflare: workers/workflows/wrapped-binding.worker.ts,
// binding.worker.ts). Each instance is an object of the platform's own (engine.js).
function (native, p) {
  "use strict";
  const { ArrayIsArray, ArrayPrototypePush, RegExpPrototypeExec } = p;
  const maxBatch = 100, maxIdLength = 100;

  // The reference's come over RPC, which makes their name a part of the message.
  const fail = (message, code) => new p.Error(`WorkflowError: (${code}) ${message}`);
  const validId = (id) => typeof id === "string" && id.length <= maxIdLength && RegExpPrototypeExec(/^[a-zA-Z0-9_][a-zA-Z0-9-_]*$/, id) !== null;
  const invalidId = () => new p.Error("WorkflowError: Workflow instance has invalid id");

  const crossed = async (call) => {
    try {
      return await call;
    } catch (e) {
      throw e?.name === "WorkflowError" ? new p.Error(`WorkflowError: ${e.message}`) : e;
    }
  };

  class InstanceImpl { // its name in the reference
    constructor(id) { this.id = id; }
    async pause() { await crossed(native.stub(this.id).pause()); }
    async resume() { await crossed(native.stub(this.id).resume()); }
    async terminate(options) {
      await crossed(native.stub(this.id).terminate(options?.rollback === true));
    }
    async restart(options) {
      await crossed(native.stub(this.id).restart(options?.from));
    }
    async delete() { await crossed(native.stub(this.id).remove()); }
    async status() {
      const { status, __LOCAL_DEV_STEP_OUTPUTS, output, error } = await crossed(native.stub(this.id).status());
      return { status, __LOCAL_DEV_STEP_OUTPUTS, output, error }; // without the disposer of a call's result
    }
    async sendEvent(event) { await crossed(native.stub(this.id).sendEvent(event)); }
  }

  // What the modifiers of tests do to an instance (miniflare: @cloudflare/workflows-shared, modifier.ts).
  const modifier = (modify) => ({
    async disableSleeps(steps) { await modify({ type: "disableSleeps", steps }); },
    async disableRetryDelays(steps) { await modify({ type: "disableRetryDelays", steps }); },
    async mockStepResult(step, stepResult) { await modify({ type: "mockStepResult", step, stepResult }); },
    async mockStepError(step, error, times) { await modify({ type: "mockStepError", step, error: { name: error.name, message: error.message }, times }); },
    async forceStepTimeout(step, times) { await modify({ type: "forceStepTimeout", step, times }); },
    async mockEvent(event) { await modify({ type: "mockEvent", event }); },
    async forceEventTimeout(step) { await modify({ type: "forceEventTimeout", step }); },
  });
  let session; // of introspection: what is done to new instances, and which there are
  const open = (id) => {
    if (session === undefined || session.id !== id) throw new p.Error(`Workflow ${p.JSONStringify(native.workflow)} does not have an active introspection session for this introspector.`);
    return session;
  };
  const begin = async (id, params) => {
    const stub = native.stub(id);
    if (session !== undefined) {
      ArrayPrototypePush(session.instances, id);
      for (let i = 0; i < session.operations.length; i++) await stub.modify(session.operations[i]);
    }
    return stub.create(id, params ?? {});
  };

  class WorkflowImpl {
    // The reference's binding has these, too; cloudflare:test calls them.
    async unsafeGetBindingName() { return native.name; }
    async unsafeStartIntrospection() {
      if (session !== undefined) throw new p.Error(`Workflow ${p.JSONStringify(native.workflow)} already has an active introspection session for binding ${p.JSONStringify(native.name)}.`);
      session = { id: native.id(), operations: [], instances: [] };
      return session.id;
    }
    async unsafeStopIntrospection(id) { if (session?.id === id) session = undefined; }
    async unsafeSetIntrospectionOperations(id, operations) { open(id).operations = operations; }
    async unsafeGetIntrospectionInstances(id) { return open(id).instances; }
    async unsafeGetInstanceModifier(id) { return modifier((operation) => native.stub(`${id}`).modify(operation)); }
    async unsafeWaitForStepResult(id, name, index) { return native.stub(`${id}`).waitForStep(name, index); }
    async unsafeWaitForStatus(id, status) { return native.stub(`${id}`).waitForStatus(status); }
    async unsafeGetOutputOrError(id, output) { return native.stub(`${id}`).outputOrError(output); }
    async unsafeAbort(id, reason) { await native.stub(`${id}`).forget(`${reason}`); }

    async get(id) {
      const instance = new InstanceImpl(id);
      if (!(await native.stub(`${id}`).exists())) throw new p.Error("instance.not_found");
      return instance;
    }
    async create(options) {
      const id = options?.id === undefined ? native.id() : options.id;
      if (!validId(id)) throw invalidId();
      if (!(await begin(id, options?.params))) {
        throw fail(`Workflow instance with id "${id}" already exists`, "instance.already_exists");
      }
      return new InstanceImpl(id);
    }
    async createBatch(batch) {
      if (!ArrayIsArray(batch)) throw p.ObjectAssign(new p.Error("WorkflowError: (body) Provided argument is invalid"), { remote: true });
      if (batch.length === 0) throw new p.Error("WorkflowError: batchCreate should have at least 1 instance");
      if (batch.length > maxBatch) throw new p.Error("WorkflowError: batchCreate only supports 100 instances at a time");
      for (let i = 0; i < batch.length; i++) if (batch[i].id !== undefined && !validId(batch[i].id)) throw invalidId();
      const created = [];
      for (let i = 0; i < batch.length; i++) {
        const id = batch[i].id ?? native.id();
        // An instance that exists is left out, as in the reference.
        if (await begin(id, batch[i].params)) ArrayPrototypePush(created, new InstanceImpl(id));
      }
      return created;
    }
  }
  return new WorkflowImpl();
}
