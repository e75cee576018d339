// The texts in the language of this browser: the one that was chosen, or the browser's own where there is a file for it, or English.
// A language is one file, `words.xx.js`, with every key of words.en.js; add it to LANGUAGES.

import { words as english } from "./words.en.js";

/** Code of a language → its own name. */
export const LANGUAGES = { en: "English", de: "Deutsch" };
const KEY = "graphmem-language";

function chosen() {
  let kept = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // A browser that keeps nothing still has a language of its own.
  }
  return [kept, ...navigator.languages.map((one) => one.slice(0, 2))].find((one) => one in LANGUAGES) ?? "en";
}

export const language = chosen();
export const words = language === "en" ? english : (await import(`./words.${language}.js`)).words;
document.documentElement.lang = language;

/** Show the pages in another language from now on. */
export function speak(next) {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    return; // it could not be kept, so the page would come back as it is
  }
  location.reload();
}
