// The search: sections that have every word, those with words in their heading first.
const field = document.getElementById("search");
const results = document.getElementById("results");
const shown = 12;

function find(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found = [];
  for (const section of window.searchIndex) {
    const heading = `${section.page} ${section.heading}`.toLowerCase();
    const text = section.text.toLowerCase();
    if (!words.every((word) => heading.includes(word) || text.includes(word))) continue;
    found.push({ section, rank: words.filter((word) => heading.includes(word)).length });
  }
  return found.sort((a, b) => b.rank - a.rank).slice(0, shown).map(({ section }) => ({ ...section, excerpt: excerpt(section.text, words) }));
}

function excerpt(text, words) {
  const at = Math.max(0, Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((n) => n >= 0).concat(text.length)) - 40);
  return at >= text.length ? text.slice(0, 100) : text.slice(at, at + 120);
}

field.addEventListener("input", () => {
  const found = find(field.value);
  results.hidden = field.value === "";
  results.replaceChildren(...(found.length ? found : [{ heading: "Nothing has these words.", page: "", excerpt: "" }]).map((section) => {
    const item = document.createElement("li");
    const link = document.createElement(section.href ? "a" : "span");
    if (section.href) link.href = section.href;
    link.textContent = section.page && section.page !== section.heading ? `${section.page}: ${section.heading}` : section.heading;
    const small = document.createElement("small");
    small.textContent = section.excerpt;
    item.append(link, small);
    return item;
  }));
});

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch {}
});
