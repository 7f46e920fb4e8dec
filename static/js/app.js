// Adds keys, selection and memory of taste to pages that work without it. Everything hangs on data attributes.

const root = document.documentElement;
const stacked = matchMedia("(max-width: 1099px)");
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

function remember(name, value) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${value}; Path=${root.dataset.root}; Max-Age=31536000; SameSite=Lax${secure}`;
}

// --- Theme and rail: the server reads the cookies, so that no page flashes.

function toggleTheme() {
  const now = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  remember("theme", root.dataset.theme);
}

function toggleRail() {
  const narrow = root.dataset.rail !== "icons";
  if (narrow) root.dataset.rail = "icons";
  else delete root.dataset.rail;
  remember("rail", narrow ? "icons" : "words");
}

// --- The current row of a list.

const list = () => document.querySelector("[data-key-list]");
const rows = () => (list() ? all("[data-key-item]", list()) : []);
const current = () => list()?.querySelector("[data-key-item][data-current]") ?? null;

function mark(row) {
  for (const other of rows()) {
    other.toggleAttribute("data-current", other === row);
    other.querySelector("[data-key-open]")?.removeAttribute("aria-current");
  }
  row.querySelector("[data-key-open]")?.setAttribute("aria-current", "true");
}

function focusRow(row) {
  const link = row.querySelector("[data-key-open]") ?? row;
  link.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

let following = 0;

// A held key passes many rows; only the one where it rests is opened.
function follow(row) {
  clearTimeout(following);
  if (list().dataset.keyFollow === undefined || stacked.matches) return;
  following = setTimeout(() => row.isConnected && row.querySelector("[data-key-open]")?.click(), 150);
}

function step(by) {
  const items = rows();
  if (!items.length) return;
  const at = items.indexOf(current());
  const next = items[at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(Math.max(at + by, 0), items.length - 1)];
  if (next === current()) return;
  mark(next);
  focusRow(next);
  follow(next);
}

// --- After a swap the place in the list stays: the same row, or the one that moved up into its place.

let place = null;

function keepPlace() {
  const row = current();
  if (row) place = { id: row.id, index: rows().indexOf(row), focused: row.contains(document.activeElement) };
}

function findPlace() {
  const items = rows();
  if (!place || !items.length) return;
  const row = current() ?? items.find((item) => item.id === place.id) ?? items[Math.min(place.index, items.length - 1)];
  const lost = place.focused && (document.activeElement === document.body || !document.activeElement);
  const left = !current();
  if (left) mark(row);
  if (lost) focusRow(row);
  // A current row that the server named comes with its own detail.
  if (left && row.id !== place.id) follow(row);
  place = null;
}

// --- Selection of many.

const fill = (text, n) => text.replace("{n}", n);

function showSelection() {
  const bar = document.querySelector("[data-select-bar]");
  if (!bar) return;
  const boxes = all("[data-key-select]");
  const chosen = boxes.filter((box) => box.checked).length;
  const matching = bar.querySelector("[data-select-matching]");
  const n = matching?.checked ? Number(matching.dataset.selectMatching) : chosen;
  const counter = bar.querySelector("[data-select-count]");
  counter.textContent = n ? fill(counter.dataset.some, n) : counter.dataset.none;
  const whole = bar.querySelector("[data-select-all]");
  whole.checked = chosen > 0 && chosen === boxes.length;
  whole.indeterminate = chosen > 0 && chosen < boxes.length;
  for (const act of all("[data-select-act]", bar)) {
    act.disabled = n === 0;
    act.lastElementChild.textContent = fill(act.dataset.selectAct, n || "").trim();
  }
}

let lastBox = null;

function selectRange(box) {
  const boxes = all("[data-key-select]");
  const [from, to] = [boxes.indexOf(lastBox), boxes.indexOf(box)].sort((a, b) => a - b);
  if (from >= 0) for (const between of boxes.slice(from, to + 1)) between.checked = box.checked;
}

// --- Keys.

const typing = (element) => element.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

// A key that decides acts on the current row; elsewhere on the page only on what belongs to no row.
function press(key) {
  const selector = `[data-key="${CSS.escape(key)}"]`;
  const row = current();
  const button =
    row?.querySelector(selector) ??
    all(selector).findLast((element) => !element.closest("[data-key-item]") && element.checkVisibility());
  if (!button || button.disabled) return false;
  if (button.matches("input, textarea, select")) {
    button.focus();
    button.select?.();
  } else button.click();
  return true;
}

const moves = {
  j: () => step(1),
  k: () => step(-1),
  x: () => current()?.querySelector("[data-key-select]")?.click(),
  "?": () => document.getElementById("keyboard-help")?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenus();
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing(event.target) || document.querySelector("dialog[open]") || event.key.length !== 1) return;
  if (moves[event.key]) moves[event.key]();
  else if (event.repeat || !press(event.key)) return;
  event.preventDefault();
});

// --- Clicks.

function closeMenus(except) {
  for (const menu of all("details[data-menu][open]")) if (menu !== except) menu.open = false;
}

// Browsers lend the clipboard to pages of this machine and of https only.
root.toggleAttribute("data-no-clipboard", !navigator.clipboard);

async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy);
  button.dataset.copied = "";
  button.addEventListener("mouseleave", () => delete button.dataset.copied, { once: true });
}

const clicks = {
  "[data-theme-toggle]": toggleTheme,
  "[data-rail-toggle]": toggleRail,
  "[data-dialog]": (button) => document.getElementById(button.dataset.dialog).showModal(),
  "[data-dismiss]": (button) => button.closest(".toast").remove(),
  "[data-close]": (button) => (button.closest("details").open = false),
  "[data-copy]": copy,
  "[data-key-open]": (link) => link.closest("[data-key-item]") && mark(link.closest("[data-key-item]")),
};

document.addEventListener("click", (event) => {
  closeMenus(event.target.closest("details[data-menu]"));
  for (const [selector, act] of Object.entries(clicks)) {
    const element = event.target.closest(selector);
    if (element) act(element);
  }
  const box = event.target.closest("[data-key-select]");
  if (!box) return;
  if (event.shiftKey) selectRange(box);
  lastBox = box;
});

// What fills the second column is followed as a link where there is only one: htmx does not hear of it.
document.addEventListener(
  "click",
  (event) => stacked.matches && event.target.closest("[data-wide-only]") && event.stopImmediatePropagation(),
  { capture: true },
);

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-select-all]")) for (const box of all("[data-key-select]")) box.checked = event.target.checked;
  if (event.target.matches("[data-select-all], [data-key-select], [data-select-matching]")) showSelection();
});

// --- htmx.

function failed() {
  document.getElementById("toasts").append(document.getElementById("toast-failed").content.cloneNode(true));
}

// An item that arrives when the place has moved on would stand beside a row that it does not belong to.
const isLate = (source) => source?.matches?.("[data-key-open]") && source.closest("[data-key-item]") !== current();
let fromDetail = false;

document.addEventListener("htmx:before:swap", (event) => {
  const source = event.detail.ctx.sourceElement;
  if (isLate(source)) return event.preventDefault();
  fromDetail = Boolean(source?.closest?.(".split__detail"));
  keepPlace();
});
document.addEventListener("htmx:after:swap", (event) => {
  findPlace();
  showSelection();
  event.target.closest?.(".toast")?.remove(); // its undo is done
  const target = event.detail.ctx?.target;
  const detail = document.querySelector(".split__detail");
  if (stacked.matches && detail && (fromDetail || target === detail)) detail.scrollIntoView({ block: "start" });
});
document.addEventListener("htmx:error", failed);
document.addEventListener("htmx:response:error", (event) => event.detail.ctx.response.status >= 500 && failed());

// Toasts stay until they are dismissed, and the newest three are enough.
new MutationObserver(() => all("#toasts > .toast").slice(0, -3).forEach((toast) => toast.remove())).observe(
  document.getElementById("toasts"),
  { childList: true },
);

showSelection();
