// The Workflow binding (miniflare: workers/workflows/wrapped-binding.worker.ts,
// binding.worker.ts). Each instance is an object of the platform's own (engine.js).
function (native, p) {
  "use strict";
  const { ArrayIsArray, ArrayPrototypePush, NumberIsInteger, RegExpPrototypeExec } = p;
  const maxBatch = 100, maxIdLength = 100;

  // The reference's come over RPC, which makes their name a part of the message.
  const remote = (error) => p.ObjectAssign(error, { remote: true });
  const refuse = (text) => remote(new p.Error(`WorkflowError: ${text}`));
  const fail = (message, code) => refuse(`(${code}) ${message}`);
  const validId = (id) => typeof id === "string" && id.length <= maxIdLength && RegExpPrototypeExec(/^[a-zA-Z0-9_][a-zA-Z0-9-_]*$/, id) !== null;
  const invalidId = () => refuse("Workflow instance has invalid id");

  const crossed = async (call) => {
    try {
      return await call;
    } catch (e) {
      throw e?.name === "WorkflowError" ? refuse(e.message) : e;
    }
  };

  let fetcher; // a stub of WorkflowBinding, which the reference's objects have, too
  class InstanceImpl { // its name in the reference
    constructor(id) {
      this.id = id;
      this.binding = fetcher;
    }
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
    async sendEvent(event) {
      if (event === undefined || event === null) throw remote(new p.TypeError(`Cannot read properties of ${event} (reading 'payload')`));
      await crossed(native.stub(this.id).sendEvent(event));
    }
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
      if (!(await native.stub(`${id}`).exists())) throw remote(new p.Error("instance.not_found"));
      return instance;
    }
    async create(options) {
      if (options === null) throw remote(new p.TypeError("Cannot read properties of null (reading 'id')"));
      const id = options?.id === undefined ? native.id() : options.id;
      if (!validId(id)) throw invalidId();
      if (!(await begin(id, options?.params))) {
        throw fail(`Workflow instance with id "${id}" already exists`, "instance.already_exists");
      }
      return new InstanceImpl(id);
    }
    // createBatch takes a list, or an object that has one or says how many there are: that
    // form tells what was not created, too.
    async createBatch(given) {
      const isList = ArrayIsArray(given);
      let batch = given;
      if (!isList) {
        if (typeof given !== "object" || given === null) throw fail("Provided argument is invalid", "body");
        if (given.count !== undefined) {
          if (!NumberIsInteger(given.count) || given.count <= 0) throw fail("count must be a positive integer", "body");
          if (given.count > maxBatch) throw fail("batchCreate only supports 100 instances at a time", "body");
          batch = [];
          for (let i = 0; i < given.count; i++) ArrayPrototypePush(batch, { params: given.params });
        } else if (ArrayIsArray(given.instances)) {
          batch = given.instances;
        } else {
          throw fail("Provided argument is invalid", "body");
        }
      }
      if (batch.length === 0) throw isList ? refuse("batchCreate should have at least 1 instance") : fail("Batch size exceeds maximum allowed", "body");
      if (batch.length > maxBatch) throw isList ? refuse("batchCreate only supports 100 instances at a time") : fail("Batch size exceeds maximum allowed", "body");
      for (let i = 0; i < batch.length; i++) {
        const { id } = batch[i];
        if (id === undefined) continue;
        if (isList && !validId(id)) throw invalidId();
        if (!isList && (!validId(id) || id === "batch" || id === "terminate" || id === "terminateAll" || RegExpPrototypeExec(/^cf_[0-9a-f]{64}$/, id) !== null)) throw fail("Instance ID is invalid", "instance.invalid_id");
      }
      const created = [], errors = [], seen = { __proto__: null };
      for (let i = 0; i < batch.length; i++) {
        const id = batch[i].id ?? native.id();
        if (seen[id]) {
          ArrayPrototypePush(errors, { index: i, id, code: 10415, message: "workflows.api.error.instance.duplicate_in_batch" });
          continue;
        }
        seen[id] = true;
        // An instance that exists is left out, as in the reference.
        if (await begin(id, batch[i].params)) ArrayPrototypePush(created, new InstanceImpl(id));
        else ArrayPrototypePush(errors, { index: i, id, code: 10405, message: "workflows.api.error.instance.already_exists" });
      }
      return isList ? created : { created, errors };
    }
    async deleteBatch(ids) {
      if (!ArrayIsArray(ids)) throw fail("Provided argument is invalid", "body");
      if (ids.length > maxBatch) throw fail("batchDeleteInstances only supports 100 instances at a time", "body");
      if (ids.length === 0) throw fail("batchDeleteInstances should have at least 1 instance", "body");
      for (let i = 0; i < ids.length; i++) if (!validId(ids[i])) throw fail("Instance ID is invalid", "instance.invalid_id");
      const deleted = [], errors = [], ends = { __proto__: null };
      for (let i = 0; i < ids.length; i++) {
        const id = ids[i];
        if (ends[id] === undefined) {
          ends[id] = await native.stub(id).exists();
          if (ends[id]) await crossed(native.stub(id).remove());
        }
        if (ends[id]) ArrayPrototypePush(deleted, { id });
        else ArrayPrototypePush(errors, { id, code: 10400, message: "workflows.api.error.instance.not_found" });
      }
      return { deleted, errors };
    }
  }
  const impl = new WorkflowImpl();
  class WorkflowBinding {
    async create(options) { return { id: (await impl.create(options)).id }; }
    async get(id) { return { id: (await impl.get(id)).id }; }
  }
  return {
    served: new WorkflowBinding(),
    made: (stub) => {
      fetcher = stub;
      impl.binding = stub;
      return impl;
    },
  };
}
