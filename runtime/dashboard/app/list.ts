import { fill, h } from "./dom";

// Column is one of a List; a minor one is left out where the window is narrow.
export type Column<T> = { title: string; width?: string; minor?: boolean; show: (row: T) => Node | string };

const height = 28; // --row

// List shows any number of rows, and has elements only for those in view. The
// arrow keys move the selection.
export class List<T> {
  readonly element: HTMLElement;
  private rows: T[] = [];
  private at = -1;
  private end = false; // it stays at its end while rows come, until somebody scrolls
  private readonly scroll: HTMLElement;
  private readonly tall: HTMLElement;
  private waiting = false;

  constructor(label: string, private readonly columns: Column<T>[], private readonly chosen: (row: T) => void, private readonly same: (a: T, b: T) => boolean = Object.is) {
    this.tall = h("div", { role: "rowgroup" });
    this.scroll = h("div", { class: "scroll", tabindex: 0, "aria-label": label, role: "presentation", keydown: (e: KeyboardEvent) => this.key(e), scroll: () => { this.end &&= this.atEnd; this.later(); } }, this.tall);
    const head = h("div", { class: "head", role: "row" }, ...columns.map(c => this.sized(h("div", { role: "columnheader" }, c.title), c)));
    this.element = h("div", { class: "list", role: "table", "aria-label": label }, head, this.scroll);
    new ResizeObserver(() => this.later()).observe(this.scroll);
  }

  // set shows rows; stay keeps the last one in view, if nobody has scrolled away
  // from it or chosen a row.
  set(rows: T[], stay = false): void {
    const before = this.rows[this.at];
    this.end = stay && before === undefined && (this.end || this.atEnd);
    this.rows = rows;
    this.at = before === undefined ? -1 : rows.findIndex(row => this.same(row, before));
    this.later();
  }

  // pick chooses a row by its number, and has it in the middle.
  pick(i: number): void {
    this.choose(i);
    this.scroll.scrollTop = (this.at + 0.5) * height - this.scroll.clientHeight / 2;
  }

  get selected(): T | undefined { return this.rows[this.at]; }
  private get atEnd(): boolean { return this.scroll.scrollTop + this.scroll.clientHeight >= this.scroll.scrollHeight - 2 * height; }

  private sized(cell: HTMLElement, column: Column<T>): HTMLElement {
    if (column.minor) cell.classList.add("minor");
    cell.style.flex = column.width ? `0 1 ${column.width}` : "1 0 11rem";
    return cell;
  }

  private later(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  private draw(): void {
    this.tall.style.height = `${this.rows.length * height}px`;
    this.element.setAttribute("aria-rowcount", String(this.rows.length + 1));
    if (this.end) this.scroll.scrollTop = this.scroll.scrollHeight;
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / height) - 4);
    const last = Math.min(this.rows.length, first + Math.ceil(this.scroll.clientHeight / height) + 8);
    const drawn: Node[] = [];
    for (let i = first; i < last; i++) {
      const row = this.rows[i]!;
      const element = h("div", { class: "row", role: "row", "aria-rowindex": i + 2, "aria-selected": String(i === this.at), mousedown: (e: MouseEvent) => { if (e.button === 0) this.take(row); }, click: (e: MouseEvent) => { if (e.detail === 0) this.take(row); } },
        ...this.columns.map(c => this.sized(h("div", { role: "cell" }, c.show(row)), c)));
      element.style.top = `${i * height}px`;
      drawn.push(element);
    }
    fill(this.tall, ...drawn);
  }

  // take chooses the row that an element shows, wherever it stands by now. A press is
  // enough: while rows come, the element is another one before the button is released. A
  // click without a press (detail 0) is a program's, as that of a screen reader.
  private take(row: T): void {
    const i = this.rows.findIndex(other => this.same(other, row));
    if (i >= 0) this.choose(i);
    else this.chosen(row);
  }

  private choose(i: number): void {
    if (i < 0 || i >= this.rows.length) return;
    this.at = i;
    if (i * height < this.scroll.scrollTop) this.scroll.scrollTop = i * height;
    else if ((i + 1) * height > this.scroll.scrollTop + this.scroll.clientHeight) this.scroll.scrollTop = (i + 1) * height - this.scroll.clientHeight;
    this.later();
    this.chosen(this.rows[i]!);
  }

  private key(e: KeyboardEvent): void {
    const page = Math.floor(this.scroll.clientHeight / height);
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: this.rows.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    this.choose(Math.max(0, Math.min(this.rows.length - 1, to)));
  }
}
