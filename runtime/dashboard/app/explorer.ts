import { post } from "./api";

export type Answer = { status: number; headers: [string, string][]; text: string; base64?: string };
export type Envelope<T> = { success: boolean; errors: { message: string }[]; result: T; result_info?: { cursor?: string; total_pages?: number; total_count?: number } };

// raw asks the explorer API of the worker's listener (docs/compatibility.md, local explorer).
export async function raw(method: string, path: string, body = "", headers: [string, string][] = []): Promise<Answer> {
  const answer = await post<Answer>("/v1/request", { method, path: "/cdn-cgi/local/explorer/api" + path, headers, body });
  if (answer.status >= 400) {
    let text = answer.text;
    try { text = JSON.parse(text).errors[0].message; } catch { /* it is no envelope: the text says it */ }
    throw new Error(text);
  }
  return answer;
}

export async function ask<T>(method: string, path: string, body?: unknown): Promise<Envelope<T>> {
  return JSON.parse((await raw(method, path, body === undefined ? "" : JSON.stringify(body), body === undefined ? [] : [["content-type", "application/json"]])).text);
}

export const part = encodeURIComponent;
