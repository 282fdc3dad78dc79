/** The time that workers see; see docs/control.md. */
export type ClockMode = "real" | "virtual" | "auto";

export interface StartOptions {
  /** Directory of the project; default: the current one. */
  project?: string;
  /** Entry file of a worker without a wrangler file, relative to `project`. */
  script?: string;
  /** Wrangler files, relative to `project`; the first worker answers on the port. */
  config?: string | string[];
  /** Environment of the wrangler file. */
  env?: string;
  /** Variables, as with `--var`. */
  vars?: Record<string, string>;
  /** Directory of the state; default: `.wrangler/state` of the project. */
  persistTo?: string;
  /** Port of the worker; default 0, a free one. */
  port?: number;
  clock?: ClockMode;
  /** Further flags of `minido dev`. */
  args?: string[];
  /** Gets each line that the server prints. */
  log?: (line: string) => void;
  /** Stops the server when it is aborted. */
  signal?: AbortSignal;
}

export interface Minido {
  /** Where the worker answers, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** The server's process id; `process.kill(pid, "SIGKILL")` is what chaos does. */
  readonly pid: number;
  /** fetch(), with paths relative to `url`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Calls the `@callable` methods of an agent (npm agents) by its class and name. Needs Node 22 or later. */
  stub<T extends object = Record<string, (...args: any[]) => any>>(className: string, name: string): Stub<T>;
  readonly ctl: Ctl;
  /** Stops the server and waits for its end. Calling it again is harmless. */
  stop(): Promise<void>;
}

/** The methods of T, each answered by a promise. */
export type Stub<T> = {
  [K in keyof T as T[K] extends (...args: any[]) => any ? K : never]: T[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

export interface ObjectState {
  worker: string;
  class: string;
  name?: string;
  id: string;
  state: "running" | "idle" | "hibernated" | "stored";
  sockets: number;
  alarm_ms: number | null;
  live?: Record<string, unknown>;
}

export interface Done {
  done: string;
}

export interface Clock {
  now_ms: number;
  mode: ClockMode;
  next_ms?: number;
}

export interface Scope {
  scope?: "object" | "isolate";
}

/** The control API. Objects are given by class, and by name or id. Failures are ControlErrors. */
export interface Ctl {
  /** Where the control API answers; null with `--no-control`. */
  readonly url: string | null;
  status(): Promise<{ version: string; pid: number; worker: string; other_workers: string[]; worker_url: string; persist_dir: string; heap_bytes: number; objects_in_memory: number }>;
  objects(): Promise<ObjectState[]>;
  evict(className: string, object: string, options?: Scope & { force?: boolean }): Promise<Done>;
  hibernate(className: string, object: string): Promise<Done>;
  reset(className: string, object: string, options?: Scope): Promise<Done>;
  abort(className: string, object: string, reason?: string): Promise<Done>;
  crash(className: string, object: string, options?: Scope & { at?: string }): Promise<Done>;
  alarm(className: string, object: string): Promise<Done>;
  /** One SELECT on what is committed. */
  sql(className: string, object: string, sql: string, ...params: unknown[]): Promise<{ columns: string[]; rows: unknown[][]; truncated: boolean }>;
  /** A consistent copy of the object's database, as the bytes of a SQLite file. */
  export(className: string, object: string): Promise<Uint8Array>;
  clock(): Promise<Clock>;
  setClock(mode: ClockMode): Promise<Clock>;
  advance(ms: number): Promise<Clock>;
}

export class ControlError extends Error {
  /** Such as `refused` or `not_found`; docs/control.md lists them. */
  code: string;
  /** The HTTP status. */
  status: number;
}

/** Starts `minido dev`, and resolves when it is ready. Rejects with what it printed if it ends before. */
export function start(options?: StartOptions): Promise<Minido>;
