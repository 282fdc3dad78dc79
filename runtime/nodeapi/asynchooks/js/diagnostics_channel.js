// node:diagnostics_channel (nodejs.org/api/diagnostics_channel.html). Channels
// are kept for the isolate's life: a name means the same channel for all.
function (native, p) {
  "use strict";
  const { errors } = native;
  const { Map, ReflectApply, PromiseResolve, PromisePrototypeThen } = p;

  const channels = new Map();

  // callable checks an argument in the words of the reference's native classes.
  const callable = (fn, method, of, at) => {
    if (typeof fn !== "function") throw new p.TypeError(`Failed to execute '${method}' on '${of}': parameter ${at} is not of type 'function'.`);
  };
  const storage = (store, method) => {
    if (!(store instanceof native.require("async_hooks").AsyncLocalStorage)) throw new p.TypeError(`Failed to execute '${method}' on 'Channel': parameter 1 is not of type 'AsyncLocalStorage'.`);
  };
  let making = false; // channels are made by channel() alone

  let active; // whether a channel has subscribers
  class Channel {
    static { active = (of) => of.#subscribers.length > 0 || of.#stores.size > 0; }
    #subscribers = [];
    #stores = new Map();
    #name;
    constructor(name) {
      if (!making) throw new p.TypeError("Illegal constructor");
      this.#name = name;
    }
    get hasSubscribers() { return active(this); }
    subscribe(fn) {
      callable(fn, "subscribe", "Channel", 1);
      this.#subscribers = [...this.#subscribers, fn];
    }
    unsubscribe(fn) {
      callable(fn, "unsubscribe", "Channel", 1);
      const i = this.#subscribers.indexOf(fn);
      if (i >= 0) this.#subscribers = this.#subscribers.filter((_, j) => j !== i);
    }
    publish(message) {
      const now = this.#subscribers;
      for (let i = 0; i < now.length; i++) now[i](message, this.#name); // throws to who publishes
      native.published(this.#name, message); // throws in the global scope
    }
    bindStore(store, transform) {
      storage(store, "bindStore");
      this.#stores.set(store, transform);
    }
    unbindStore(store) {
      storage(store, "unbindStore");
      this.#stores.delete(store);
    }
    runStores(message, fn, thisArg, ...args) {
      callable(fn, "runStores", "Channel", 2);
      let run = () => {
        this.publish(message);
        return ReflectApply(fn, thisArg, args);
      };
      for (const [store, transform] of this.#stores) {
        const next = run;
        run = () => {
          return store.run(transform === undefined ? message : transform(message), next);
        };
      }
      return run();
    }
  }
  p.ObjectDefineProperty(Channel.prototype, p.SymbolToStringTag, { value: "Channel", writable: true, configurable: true });

  const channel = (name) => {
    let found = channels.get(name);
    if (found !== undefined) return found;
    making = true;
    try { found = new Channel(name); } finally { making = false; }
    channels.set(name, found);
    return found;
  };

  const events = ["start", "end", "asyncStart", "asyncEnd", "error"];

  class TracingChannel {
    constructor(nameOrChannels) {
      const named = typeof nameOrChannels === "string";
      if (!named && (typeof nameOrChannels !== "object" || nameOrChannels === null)) throw errors.argType("channels", "of type object", nameOrChannels);
      for (const event of events) {
        const value = named ? channel(`tracing:${nameOrChannels}:${event}`) : nameOrChannels[event];
        if (!(value instanceof Channel)) throw errors.argType(`channels.${event}`, "an instance of Channel", value);
        p.ObjectDefineProperty(this, event, { value });
      }
    }
    get hasSubscribers() { return events.some((event) => active(this[event])); }
    subscribe(handlers) {
      for (const event of events) if (handlers[event]) this[event].subscribe(handlers[event]);
    }
    unsubscribe(handlers) {
      for (const event of events) if (handlers[event]) this[event].unsubscribe(handlers[event]);
    }
    traceSync(fn, context = {}, thisArg, ...args) {
      return this.start.runStores(context, () => {
        try {
          const result = ReflectApply(fn, thisArg, args);
          context.result = result;
          return result;
        } catch (error) {
          context.error = error;
          this.error.publish(context);
          throw error;
        } finally {
          this.end.publish(context);
        }
      });
    }
    tracePromise(fn, context = {}, thisArg, ...args) {
      const settled = (key, value) => {
        context[key] = value;
        if (key === "error") this.error.publish(context);
        this.asyncStart.publish(context);
        this.asyncEnd.publish(context);
      };
      return this.start.runStores(context, () => {
        try {
          return PromisePrototypeThen(PromiseResolve(ReflectApply(fn, thisArg, args)),
            (result) => { settled("result", result); return result; },
            (error) => { settled("error", error); throw error; });
        } catch (error) {
          context.error = error;
          this.error.publish(context);
          throw error;
        } finally {
          this.end.publish(context);
        }
      });
    }
    traceCallback(fn, position = -1, context = {}, thisArg, ...args) {
      const at = position < 0 ? args.length + position : position;
      const callback = args[at];
      errors.func(callback, "callback");
      const self = this;
      args[at] = function (...given) {
        const [error, result] = given;
        if (error) {
          context.error = error;
          self.error.publish(context);
        } else {
          context.result = result;
        }
        return self.asyncStart.runStores(context, () => {
          try { return ReflectApply(callback, this, given); } finally { self.asyncEnd.publish(context); }
        });
      };
      return this.start.runStores(context, () => {
        try {
          return ReflectApply(fn, thisArg, args);
        } catch (error) {
          context.error = error;
          this.error.publish(context);
          throw error;
        } finally {
          this.end.publish(context);
        }
      });
    }
  }

  if (!native.compat("diagnostics_channel_has_subscribers_getter")) { // methods, by a mistake of the reference
    const before = { hasSubscribers() { return active(this); } }, ofTracing = { hasSubscribers() { return events.some((event) => active(this[event])); } };
    p.ObjectDefineProperty(Channel.prototype, "hasSubscribers", { value: before.hasSubscribers, writable: true, configurable: true });
    p.ObjectDefineProperty(TracingChannel.prototype, "hasSubscribers", { value: ofTracing.hasSubscribers, writable: true, configurable: true });
  }

  return {
    channel,
    hasSubscribers: (name) => channels.has(name) && active(channels.get(name)),
    subscribe(name, fn) { callable(fn, "subscribe", "DiagnosticsChannelModule", 2); channel(name).subscribe(fn); },
    unsubscribe(name, fn) { callable(fn, "unsubscribe", "DiagnosticsChannelModule", 2); channel(name).unsubscribe(fn); },
    tracingChannel: (nameOrChannels) => new TracingChannel(nameOrChannels),
    Channel,
  };
}
