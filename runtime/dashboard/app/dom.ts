// Elements are made from text alone: what a worker logs, stores or is called can
// never become markup.

type Child = Node | string | number | null | undefined | false;
type Props = { [name: string]: string | number | boolean | ((event: any) => void) | undefined };

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  fill(element, ...children);
  return element;
}

export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...children.filter(c => c !== null && c !== undefined && c !== false).map(c => c instanceof Node ? c : document.createTextNode(String(c))));
}

export const bytes = (n: number): string =>
  n < 1024 ? `${n} B` : n < 1 << 20 ? `${(n / 1024).toFixed(1)} KB` : `${(n / (1 << 20)).toFixed(1)} MB`;

export function span(ms: number): string {
  const s = Math.abs(ms) / 1000;
  if (s < 0.01) return `${Number((s * 1000).toFixed(1))} ms`;
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 120) return `${s.toFixed(1)} s`;
  if (s < 7200) return s < 600 ? `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s` : `${Math.floor(s / 60)} min`;
  return s < 172800 ? `${(s / 3600).toFixed(1)} h` : `${(s / 86400).toFixed(1)} days`;
}

export const time = (ms: number): string => {
  const t = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}.${String(t.getMilliseconds()).padStart(3, "0")}`;
};

export const message = (error: unknown): string => error instanceof Error ? error.message : String(error);

// button runs an action, and shows what went wrong where fault says.
export function button(text: string, action: () => Promise<void> | void, fault: HTMLElement, props: Props = {}): HTMLButtonElement {
  const b = h("button", {
    type: "button", ...props, click: async () => {
      fill(fault);
      b.disabled = true;
      try { await action(); } catch (error) { fill(fault, message(error)); } finally { b.disabled = false; }
    },
  }, text);
  return b;
}
