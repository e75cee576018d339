// Questions to the server this page came from, each a ready-made operation of queries/operations asked for by its name.

/** Of a server with several projects: the path of the project that the page shows, like "/p/shop". */
export const BASE = /^\/p\/[^/]+/.exec(location.pathname)?.[0] ?? "";
const ENDPOINT = new URL(`${BASE}/graphql`, location.href).href;
const TOKEN_KEY = "graphmem-token"; // the query page's: one token a tab
const INDEX = "graphmem-index"; // header that names the index an answer comes from, and the one a request is meant for
let index = ""; // of the first answer: another project may be served at this address later, and its answers would lie

const fragment = new URLSearchParams(location.hash.slice(1));
if (fragment.has("token")) {
  sessionStorage.setItem(TOKEN_KEY, fragment.get("token"));
  history.replaceState(null, "", location.pathname + location.search);
}

/** A refusal with the server's facts: `code` and `facts`. */
export class Refusal extends Error {
  constructor(message, facts) {
    super(message);
    this.code = facts?.code ?? "";
    this.facts = facts ?? {};
  }
}

let onToken = () => {};

/** Who is told that the server asks for its token: `false` without one, `true` for a wrong one, and null when a token was accepted. */
export function whenTokenIsWanted(ask) {
  onToken = ask;
}

let onProjects = () => {};

/** Who is told that the server has several projects, and which. */
export function whenProjectIsWanted(choose) {
  onProjects = choose;
}

export function useToken(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
}

/**
 * Ask an operation.
 * @param {string} operation  its name.
 * @param {object} variables  by their GraphQL names.
 * @param {AbortSignal} [signal]  ends the wait.
 * @returns {Promise<object>} its data; of several root fields some may be null, then the first error is in `refused`.
 * @throws {Refusal} when there is no data.
 */
export async function ask(operation, variables = {}, signal = undefined) {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token) headers.authorization = `Bearer ${token}`;
  if (index) headers[INDEX] = index;
  let response;
  try {
    response = await fetch(ENDPOINT, { method: "POST", headers, body: JSON.stringify({ operationName: operation, variables }), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The server does not answer. Check whether `graphmem serve` is still running.", { code: "UNREACHABLE" });
  }
  // On a server with several projects, the server itself refuses a person without access; its header is not that of the project.
  const found = [401, 404].includes(response.status) ? "" : (response.headers.get(INDEX) ?? "");
  if (index && found && found !== index) throw new Refusal("The server at this address now serves another index. Reload the page to see it.", { code: "CONFLICT" });
  index ||= found;
  const body = await response.json();
  if (response.status === 401 && token === sessionStorage.getItem(TOKEN_KEY)) onToken(Boolean(token)); // and not one that was replaced meanwhile
  else if (response.ok && token) onToken(null);
  const first = body.errors?.[0];
  if (first?.extensions?.projects) onProjects(first.extensions.projects);
  const values = Object.values(body.data ?? {});
  if (!body.data || (first && values.every((value) => value === null))) throw new Refusal(first?.message ?? `HTTP ${response.status}`, first?.extensions);
  if (first) body.data.refused = new Refusal(first.message, first.extensions);
  return body.data;
}
