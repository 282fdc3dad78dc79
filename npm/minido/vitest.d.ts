/** Options of the pool: those of Cloudflare's plugin for vitest that `minido test` understands (docs/testing.md). */
export interface PoolOptions {
  /** The worker's main file. Default: that of the wrangler file. */
  main?: string;
  wrangler?: { configPath?: string; environment?: string };
  miniflare?: Record<string, unknown>;
}

/**
 * A pool for vitest 4: `test: { pool: minido() }` in vitest.config.ts. Each test file runs in minido, as with
 * `minido test`; vitest's reporters, its UI and its plugins for editors work as they do.
 */
export function minido(options?: PoolOptions): {
  readonly name: "minido";
  createPoolWorker(options: unknown): unknown;
};

export default minido;
