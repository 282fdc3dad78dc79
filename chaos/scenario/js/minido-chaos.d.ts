// Types of the module "minido:chaos", which `minido chaos` gives to scenarios
// (*.chaos.ts). `minido chaos init` puts this file beside the first one.

declare module "minido:chaos" {
  /** Milliseconds, or a text such as "300ms", "2s", "10m". */
  export type Duration = number | string;
  export interface Agent { cls: string; name: string }

  /** An agent by its class (or binding) and name. */
  export function agent(cls: string, name: string): Agent;

  /** A call whose answer a kill has cut: it may or may not have had its effect. */
  export class LostError extends Error {}
  /** The server answered with an error. */
  export class RefusedError extends Error {
    /** Of a request or the opening of a socket: the HTTP status. */
    status?: number;
  }

  export interface Driver {
    /** Calls a @callable method over the agents' WebSocket protocol. */
    rpc<T = unknown>(agent: Agent, method: string, args?: unknown[]): Promise<T>;
    /** Sends a message to a chat agent and waits for the whole answer's text. */
    chat(agent: Agent, text: string, body?: Record<string, unknown>): Promise<string>;
    /** Joins the answer that is under way, as a client that comes back; null if there is none. */
    resume(agent: Agent): Promise<string | null>;
    /** Sends a request; the answer's body as JSON, or as text if it is none. */
    fetch<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
    /** Opens a WebSocket. It ends with the server's life: then its calls reject with LostError. */
    connect(path: string, options?: { headers?: Record<string, string> }): Promise<Socket>;
    sleep(duration: Duration): Promise<void>;
    /**
     * Lets so much virtual time pass, with all that happens in it, also through kills; it does not count towards `timeout`.
     * Needs --mode sim: real processes live on the machine's clock, and there it rejects with a TypeError.
     */
    advance(duration: Duration): Promise<void>;
    /** The time of the clients and the worker. */
    clock: {
      /** Milliseconds since 1970, as Date.now() in the worker. */
      now(): number;
      /** Whether time is virtual (--mode sim). */
      readonly virtual: boolean;
    };
    /**
     * Asks again and again, through kills, restarts and answers with a status of 500 or more, until the answer is truthy. Effect points of what is asked again
     * are not visited: their number depends on the machine's speed.
     * It asks for a minute, or `within`, and waits before each next time: `every`; without it 20 ms or a twentieth of the time since it began, whichever is more, but at most a second.
     */
    until<T>(fn: () => Promise<T>, options?: { within?: Duration; every?: Duration }): Promise<T>;
    /** Turns a lost or refused call into a value. */
    attempt<T>(fn: () => Promise<T>): Promise<{ ok: true; value: T } | { ok: false; lost: boolean; error: string }>;
  }

  export interface Socket {
    /** Sends a text, or a value as JSON. */
    send(data: unknown): Promise<void>;
    /** The next frame: its text, or the server's Close frame. */
    receive(): Promise<{ text?: string; closed?: boolean; code?: number; reason?: string }>;
    /** Sends a Close frame and waits for the server's, for a second at the most: then it hangs up. */
    close(code?: number, reason?: string): Promise<void>;
  }

  export interface Event { n: number; at_ms: number; kind: string; who?: string; op?: string; text?: string; data?: unknown }

  export interface Expectation {
    toBe(value: unknown): void;
    toEqual(value: unknown): void;
    toBeTruthy(): void;
    toBeGreaterThan(value: number): void;
    toBeLessThan(value: number): void;
    toContain(value: unknown): void;
    toHaveLength(value: number): void;
    toMatch(value: string | RegExp): void;
  }

  /** What the files of one moment hold. */
  export interface Stores {
    /** The object's SQLite file, by its name or its id (of newUniqueId()). */
    db(cls: string, name: string): {
      /** Whether the object has stored anything. */
      exists(): boolean;
      all<T = Record<string, unknown>>(sql: string, ...args: unknown[]): T[]
    };
    /** The objects of a class that have stored something, by id; those that did something at an effect point with their names. */
    objects(cls: string): { id: string; name?: string }[];
    /** A D1 database, by its binding. */
    d1(binding: string): { all<T = Record<string, unknown>>(sql: string, ...args: unknown[]): T[] };
    /** A KV namespace, by its binding: texts, null for what is not there or has expired; keys by name. */
    kv(binding: string): {
      get(key: string): string | null;
      list(prefix?: string): { name: string; expiration?: number; metadata?: unknown }[];
    };
    /** An R2 bucket, by its binding: texts, null for what is not there; keys by name. */
    r2(binding: string): {
      get(key: string): string | null;
      list(prefix?: string): { key: string; size: number; etag: string }[];
    };
    /** Notes a violation where it does not hold, and goes on. */
    expect(value: unknown, label?: string): Expectation & { not: Expectation };
  }

  /** What a run left at rest. */
  export interface Facts extends Stores {
    /** What drive() returned; undefined if it did not come to its end. */
    result: any;
    history: {
      events: Event[];
      kills: Event[];
      effects: Event[];
      calls(text: string): Event[];
      returns(text: string): Event[];
      /** Kills at points whose label contains the text, such as "/alarm". */
      killsAt(part: string): Event[];
    };
    /** How often the server died. */
    deaths: number;
  }

  /** Must be true in at least one run of a campaign, or the campaign ends with code 5. */
  export function sometimes(name: string, condition: unknown): void;
  /** Must be true whenever it is asked, in drive() and in check(): otherwise the run is violated. */
  export function always(name: string, condition: unknown): void;
  /** Must be true the last time that a run asks it, in drive() or in check(): otherwise the run is violated. */
  export function eventually(name: string, condition: unknown): void;
  /** A place that at least one run of a campaign must come to, or the campaign ends with code 5. The name is a literal. */
  export function reachable(name: string): void;

  export interface Definition {
    /** Variables of the worker. */
    vars?: Record<string, string | number>;
    /** Who brings the system back after a kill: its own alarm (nobody asks), or a request. */
    recover?: "alarm" | "request";
    /** How long a life may take until nothing is left to do. */
    timeout?: Duration;
    /** For systems that never come to rest: each life ends so long after its clients are done, if only alarms, timers and sockets are left. */
    rest?: { horizon: Duration };
    /** Variable that gets the URL of the effect sink. */
    effects?: string;
    /**
     * A scripted model that outlives the server: it answers env.AI.run(), and OPENAI_BASE_URL and ANTHROPIC_BASE_URL name it.
     * It says "w0 w1 w2 …", goes on where a cut answer ends, reasons if asked to "think", and calls a tool if asked to "use TOOL".
     * true: forty words, one each 5 ms.
     */
    ai?: boolean | { words?: number; pace?: Duration };
    /** counter(add,get) or register(put,get), with names of calls. */
    models?: string[];
    /** Tables, KV keys and table.column that may differ from a run without faults: ["log*", "jobs.note"]. */
    mask?: string[];
    /** What the clients do. A call that a kill cuts rejects with LostError; drive may let it pass. */
    drive(driver: Driver): Promise<void>;
    /**
     * What must hold at every moment: it is asked of the files as each death left them, and at rest. enumerate has a death
     * before and after each commit of the run without faults. Before rest, an object or a table that is not there yet has no rows.
     */
    invariant?(stores: Stores): void | Promise<void>;
    /** What must hold at rest, beside what is always checked. */
    check?(facts: Facts): void | Promise<void>;
  }

  export interface Scenario extends Definition { name: string }
  export function scenario(name: string, definition: Definition): Scenario;
}
