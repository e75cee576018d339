// A new memory.

import { ask } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { choice, failure, field, link, splitList, to } from "./parts.js";
import { words } from "./words.js";

export async function show(page, parameters) {
  const w = words.teach;
  const content = h("textarea", { name: "content", rows: 6, required: true, maxlength: 8000 });
  const length = h("small.count", { role: "status" }, w.count(0));
  const type = choice([["", w.by_words], ...words.memories.types.map((one) => [one, words.memories.type_of[one] ?? one])], "", { name: "type" });
  const files = h("input", { name: "files", value: parameters.file ?? "" });
  const symbols = h("input", { name: "symbols", value: parameters.symbol ?? "" });
  const tags = h("input", { name: "tags" });
  const importance = h("input", { name: "importance", type: "number", min: 0, max: 1, step: 0.05 });
  const result = h("div", { role: "status" });
  content.addEventListener("input", () => (length.textContent = w.count(content.value.length)));
  const submit = async (event) => {
    event.preventDefault();
    const input = {
      content: content.value,
      source: "user_taught", // agents do not use this form
      ...(type.value ? { type: type.value } : {}),
      ...(files.value.trim() ? { files: splitList(files.value) } : {}),
      ...(symbols.value.trim() ? { symbols: splitList(symbols.value) } : {}),
      ...(tags.value.trim() ? { tags: splitList(tags.value) } : {}),
      ...(importance.value ? { importance: Number(importance.value) } : {}),
    };
    try {
      const { memory, result: became } = (await ask("Remember", { input })).remember;
      const said = w.outcome[became.outcome] ?? became.outcome;
      fill(
        result,
        h("div.card", null, h("p.lead", null, said),
          became.redacted.length ? h("p", null, w.redacted(became.redacted.join(", "))) : null,
          became.unresolved.length ? h("p", null, w.unresolved(became.unresolved.join(", "))) : null,
          became.note ? h("p.hint", null, became.note) : null,
          link(to("memories", { id: memory.shortId }), `${w.open}: ${memory.title}`)),
      );
      announce(said);
      if (became.outcome !== "duplicate") content.value = "";
    } catch (error) {
      fill(result, failure(error));
    }
  };
  fill(
    page,
    h("h1", null, w.title),
    h("p.hint", null, w.hint),
    h("form.editor", { onsubmit: submit }, field(w.content, content), length, field(w.type, type), field(w.files, files), field(w.symbols, symbols), field(w.tags, tags), field(w.importance, importance), h("div.buttons", null, h("button.primary", null, w.save))),
    result,
  );
  content.focus();
}
