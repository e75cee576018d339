// Finds the view the address means and shows it; everything around the views.

import { BASE, ask, useToken, whenProjectIsWanted, whenTokenIsWanted } from "./api.js";
import { fill, h } from "./dom.js";
import { failure, go, link, menu, symbolField, to } from "./parts.js";
import { focusPane, follow, setUp, siteClicked } from "./workspace.js";
import { aside, tour } from "./tour.js";
import { LANGUAGES, language, speak, words } from "./words.js";

const OFTEN = ["home", "graph", "code", "impact", "memories", "tangled", "changes", "questions", "ask"]; // always in sight
const MORE = { code: ["path", "diff", "coaccess"], architecture: ["risk", "people", "cut", "matrix", "decisions", "rules"], memory: ["news", "onboarding", "review", "teach", "sessions"], server: ["health"] };
const OTHERS = ["matrix", "cut", "changes", "people", "risk", "decisions", "rules"]; // pages of architect.js
const FILES = { ...Object.fromEntries(["questions", ...OTHERS].map((name) => [name, "architect"])), onboarding: "news" }; // of views in a file of another name
const FORMER = { quarter: "changes" }; // earlier names of views, in addresses that people keep
const VIEWS = new Set([...OFTEN, ...Object.values(MORE).flat()]);
const THEME_KEY = "graphmem-theme";
const main = document.getElementById("main");
let current = null; // {stop()} of the view that is shown
let shownAt = ""; // its address, without the fragment

function viewOf(address) {
  const name = address.pathname.slice(BASE.length).replace(/^\/explore\/?/, "").replace(/\/$/, "");
  return FORMER[name] ?? (name || "home");
}

async function show() {
  const address = new URL(location.href);
  const name = viewOf(address);
  shownAt = address.pathname + address.search;
  current?.abort();
  const turn = (current = new AbortController());
  mark(name);
  aside(name === "home");
  const find = document.getElementById("find");
  if (document.activeElement !== find || find.value) find.value = ""; // it says what one looks for, and not where one was
  if (!VIEWS.has(name)) {
    document.title = words.brand;
    fill(main, h("div.page", null, h("h1", null, words.no_view(name)), link(to("home"), words.to_home)));
    return;
  }
  document.title = `${title(name)} · ${words.brand}`;
  try {
    const view = await import(`./${FILES[name] ?? name}.js`);
    if (turn.signal.aborted) return;
    const page = h(`div.page.view-${name}`);
    fill(main, page);
    follow(OTHERS.includes(name) || name === "questions" ? { code: address.searchParams.get("code") } : Object.fromEntries(address.searchParams));
    await (view.show ?? view[name])(page, Object.fromEntries(address.searchParams), turn.signal);
  } catch (error) {
    if (error.name === "AbortError" || turn.signal.aborted) return;
    fill(main, h("div.page", null, h("h1", null, title(name)), failure(error)));
  }
}

const title = (name) => words.views[name] ?? words.architect[name].title;

function mark(name) {
  for (const one of document.querySelectorAll("#top nav a")) {
    if (one.dataset.view === name) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  const menu = document.querySelector("#top nav details");
  menu.open = false;
  menu.classList.toggle("here", !OFTEN.includes(name));
  const row = document.querySelector("#top nav > ul");
  const here = row.querySelector("[aria-current]");
  if (here) row.scrollLeft += here.getBoundingClientRect().left - row.getBoundingClientRect().left - (row.clientWidth - here.offsetWidth) / 2;
}

/** The views that are not always in sight, by what they are about. */
function further(item) {
  const w = words.groups;
  const outside = h("li", null, link(`${BASE}/graphql`, words.views.query, { "data-outside": "" }));
  return menu(w.more, null, h("div.groups", null, Object.entries(MORE).map(([group, names]) => h("section", null, h("h2", null, w[group]), h("ul", null, names.map(item), group === "server" ? outside : null)))));
}

function stored() {
  try {
    return localStorage.getItem(THEME_KEY) ?? "auto";
  } catch {
    return "auto";
  }
}

function dress(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  dispatchEvent(new Event("retheme"));
}

function top() {
  const theme = h(
    "select",
    {
      id: "theme",
      "aria-label": words.theme.label,
      onchange: () => {
        try {
          localStorage.setItem(THEME_KEY, theme.value);
        } catch {
          // A browser that keeps nothing still shows the colours.
        }
        dress(theme.value);
      },
    },
    ["auto", "light", "dark"].map((key) => h("option", { value: key, selected: key === stored() }, words.theme[key])),
  );
  const item = (name) => {
    const made = link(to(name), title(name));
    made.dataset.view = name;
    return h("li", null, made);
  };
  const panes = setUp();
  const step = (text, label, by) => h("button", { type: "button", "aria-label": label, title: label, onclick: () => history.go(by) }, text);
  fill(
    document.getElementById("top"),
    link(to("home"), words.brand, { class: "brand" }),
    h("span.steps", null, step("←", words.back, -1), step("→", words.forward, 1), panes.files),
    symbolField("find", { label: words.search.label, placeholder: words.search.placeholder, chosen: (ref) => go(to("code", { at: ref })), everything: true }),
    h("nav", { "aria-label": words.navigation }, h("ul", null, OFTEN.map(item)), further(item)),
    h("span", { id: "project" }),
    h("span.state", { id: "state", role: "status" }),
    panes.code,
    theme,
    h("select", { id: "language", "aria-label": words.language, onchange: (event) => speak(event.target.value) }, Object.entries(LANGUAGES).map(([code, name]) => h("option", { value: code, lang: code, selected: code === language }, name))),
  );
}

async function freshness() {
  const place = document.getElementById("state");
  try {
    const { state } = await ask("State");
    const said = words.state[state.state];
    place.textContent = typeof said === "string" ? said : state.status === "STALE" ? said(state.staleFiles) : said(state.done, state.total);
    place.dataset.status = state.state;
    place.title = state.note;
  } catch {
    place.textContent = "";
  }
}

// The whole page is one document: a link to a view changes the address and shows it.
document.addEventListener("click", (event) => {
  const anchor = event.target.closest?.("a[href]");
  if (!anchor || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const href = anchor.getAttribute("href");
  if (!href.startsWith(`${BASE}/explore/`)) return;
  event.preventDefault();
  if (anchor.dataset.site) return siteClicked(anchor);
  go(href);
  const lines = anchor.closest(".lines");
  if (lines) lines.focus({ preventScroll: true });
  else if (!anchor.closest(".pane")) main.focus({ preventScroll: true });
});
// A fragment leads to a place on the page that is there: browsers tell of it as of any other step, but nothing is to be shown anew.
addEventListener("popstate", (event) => {
  if (event.isTrusted && location.hash && location.pathname + location.search === shownAt) return;
  show();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select");
  const free = !typing || (typing.matches(".combo input:not(#find)") && !typing.value); // no name begins with a slash
  if (event.key === "/" && free && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    document.getElementById("find").focus();
    document.getElementById("find").select();
  } else if ((event.ctrlKey || event.metaKey) && event.key === "k") {
    event.preventDefault();
    document.getElementById("find").focus();
    document.getElementById("find").select();
  } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey && !document.querySelector("dialog[open]")) {
    if (["t", "s", "c"].includes(event.key)) (event.preventDefault(), focusPane(event.key));
    else if (event.key === "?") keys();
  }
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("retheme")));

/** The keys, in a box that Escape closes. */
function keys() {
  const box = h("dialog.keys-dialog", { "aria-label": words.keys.title }, h("h2", null, words.keys.title), h("dl.keys", null, words.keys.list.map(([key, text]) => [h("dt", null, h("kbd", null, key)), h("dd", null, text)])), h("form", { method: "dialog" }, h("button.primary", null, words.panel.close), " ", h("button", { onclick: () => tour(true) }, words.tour.title)));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}

/** The projects of the server, to choose one. */
whenProjectIsWanted((projects) => {
  current?.abort();
  document.querySelectorAll("dialog[open]").forEach((box) => box.remove());
  document.title = words.brand;
  const listed = projects.map((name) => h("li", null, h("a", { href: `/p/${encodeURIComponent(name)}/explore/`, "data-outside": "" }, name)));
  fill(main, h("div.page.view-projects", null, h("h1", null, words.projects.title), listed.length ? h("ul.listing", null, listed) : h("p.hint", null, words.projects.none)));
});

/** On a server with several projects: a list to go to another one. */
async function others() {
  const { projects } = await ask("Projects");
  const change = (event) => location.assign(`${event.target.value}/explore/`);
  const option = (one, name) => h("option", { value: one.path, selected: one.path === BASE }, name);
  fill(
    document.getElementById("project"),
    h("select", { "aria-label": words.projects.title, onchange: change }, projects.projects.flatMap((one) => [option(one, one.name), ...one.branches.map((branch) => option(branch, `${one.name} · ${branch.name}`))])),
  );
}

let asked = null;
whenTokenIsWanted((wrong) => {
  asked?.remove();
  if (wrong === null) return; // a request with the token was answered
  const input = h("input", { type: "password", autocomplete: "off", required: true });
  asked = h(
    "form.token",
    {
      onsubmit: (event) => {
        event.preventDefault();
        useToken(input.value);
        asked.remove();
        show();
        freshness();
      },
    },
    h("label", null, words.token.ask, " ", input),
    h("button", null, words.token.use),
    wrong ? h("span", { role: "alert" }, words.token.wrong) : null,
  );
  document.getElementById("top").after(asked);
});

dress(stored());
top();
show();
freshness();
if (BASE) others().catch(() => {}); // the project itself answers without the list
setInterval(() => document.visibilityState === "visible" && freshness(), 15_000);
