import * as fs from "node:fs/promises";
import * as path from "node:path";

interface Owner {
  readonly address: string;
  readonly token: string;
}

interface Answer<T> {
  readonly data?: T | null;
  readonly errors?: readonly { readonly message: string }[];
}

const TIMEOUT_MS = 10_000;

/** Asks the server of a project, which `graphmem lsp` has started. */
export class Service {
  constructor(readonly root: string) {}

  async ask<T, V extends object = Record<string, never>>(query: string, variables?: V): Promise<T> {
    const owner = await this.owner();
    const response = await fetch(`${owner.address}/graphql`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(owner.token ? { Authorization: `Bearer ${owner.token}` } : {}) },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = (await response.json()) as Answer<T>;
    const failed = answer.errors?.[0];
    if (failed !== undefined) throw new Error(failed.message);
    if (answer.data === undefined || answer.data === null) throw new Error(`the server answered with status ${response.status}`);
    return answer.data;
  }

  /** The address in `owner.json`; a record of another machine came with the project and is not used. */
  private async owner(): Promise<Owner> {
    const found = JSON.parse(await fs.readFile(path.join(this.root, ".graphmem", "owner.json"), "utf8")) as Owner;
    const host = new URL(found.address).hostname;
    if (!["127.0.0.1", "localhost", "[::1]"].includes(host)) throw new Error(`the server at ${host} is not on this machine`);
    return found;
  }
}
