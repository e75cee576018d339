// Elements from plain data. Whatever comes from a repository or a memory enters the page here, as text and never as markup.

/**
 * Make an element.
 * @param {string} tag  "div", or with classes "div.card.wide".
 * @param {object|null} given  attributes; `on…` are listeners, `value`, `checked`, `selected`, `hidden`, `disabled`, `open` properties.
 * @param {...any} children  elements, texts, lists of them; null and false are left out.
 */
export function h(tag, given, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(given ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (PROPERTIES.has(key)) element[key] = value;
    else if (key === "href") element.setAttribute("href", ours(value));
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  put(element, children);
  return element;
}

const PROPERTIES = new Set(["value", "checked", "selected", "hidden", "disabled", "open"]);

// Links lead to this server's pages only; anything else (a "javascript:" in a name) becomes a harmless fragment.
function ours(address) {
  const text = String(address);
  return /^[/#?]/.test(text) && !text.startsWith("//") ? text : "#";
}

function put(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
}

// Characters that reorder text on the screen (Trojan Source) are shown as what they are.
export function visible(text) {
  return text.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
}

const MARKS = /^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+|\*\*(\S(?:[^*\n]*\S)?)\*\*|(?<!!)\[([^\][\n]+)\]\([^)\s]+\)/gm;

/** A text without its Markdown, except code in backticks. */
export const plain = (text) => text.replace(MARKS, (_, strong, label) => strong ?? label ?? "").trim();

/** Put children in the place of what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren();
  put(element, children);
  return element;
}

/** Say something to those who listen instead of look. */
export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

/** A function that runs once the calls have paused. */
export function later(run, milliseconds) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), milliseconds);
  };
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
