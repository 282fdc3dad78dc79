// The types of "minido:test" (docs/testing.md).
declare module "minido:test" {
  /** A stub of a Durable Object. */
  interface Stub {
    readonly id: { toString(): string };
  }
  /** The object dies as if its process did: what it had not written is lost, and calls of it fail. */
  export function crash(stub: Stub): Promise<void>;
  /** The object leaves memory when it is idle, and its sockets are closed; with the scope "isolate" all that are in memory do. */
  export function evict(stub: Stub, options?: { scope?: "object" | "isolate" }): Promise<void>;
  /** The object leaves memory when it is idle, and its hibernatable sockets stay. */
  export function hibernate(stub: Stub): Promise<void>;
  /** All objects die. */
  export function kill(): Promise<void>;
  /** All objects die, and their storage loses what was not synced; what was answered is there. */
  export function powerLoss(): Promise<void>;
  /** All objects die when one reaches the effect point, such as "commit:after(Room/r)" (docs/chaos.md). */
  export function killAt(point: string): Promise<void>;
  export const clock: {
    /** Virtual time passes, and with it alarms and timers: "30m", "1h30m", or milliseconds. */
    advance(duration: string | number): Promise<void>;
    /** Time jumps to the next timer when nothing else is left to run: the default. */
    auto(): Promise<void>;
    /** Waits take as long as they say, on the machine's clock. */
    real(): Promise<void>;
  };
  /** The labels of the effect points that objects have passed so far. */
  export function effects(): Promise<string[]>;
  /** What has happened in this world so far, in order. */
  export function history(): Promise<{ at: number; kind: "point" | "log" | "fault" | "model"; text: string }[]>;
  /** An answer of the scripted model; an array is a text in these pieces. A status, 400 to 599, refuses. */
  type Reply = string | string[] | { text?: string | string[]; reasoning?: string | string[]; tool?: { name: string; arguments?: object }; status?: number };
  /** The scripted model: env.AI, and OpenAI Responses and Anthropic Messages below url. */
  export const model: {
    readonly url: string;
    /** The answers to the next requests, in this order. A request without one gets 501. */
    reply(...answers: Reply[]): Promise<void>;
    /**
     * Requests that no reply is scripted for are answered with n words, w0 to w(n-1). An answer that was cut
     * goes on where its words in the conversation end; "think" in the message lets it reason first, and
     * "use NAME {...}" call the tool NAME.
     */
    words(n: number): Promise<void>;
    /** What the model was asked. */
    requests(): Promise<{ path: string; model: string; messages: { role: string; text: string }[]; tools: string[] }[]>;
  };
  /** The seed of this world. */
  export function seed(): Promise<number>;
  export const chaos: {
    /** Keeps the test that calls it out of --chaos; the report lists it with the reason. */
    skip(reason: string): void;
  };
}
