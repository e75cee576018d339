/** What the extension asks over GraphQL, because the Language Server Protocol has no words for it. */

export interface Memory {
  readonly shortId: string;
  readonly type: string;
  readonly title: string;
  readonly content: string;
  readonly confidenceInUse: number;
}

export interface MemoriesAnswer {
  readonly memories: { readonly totalCount: number; readonly edges: readonly { readonly node: Memory }[] } | null;
}

export const MEMORIES = `query Memories($files: [String!]!) {
  memories(filter: { files: $files }, first: 50) {
    totalCount
    edges { node { shortId type title content confidenceInUse } }
  }
}`;

export interface QueueAnswer {
  readonly reviewQueue: {
    readonly totalCount: number;
    readonly edges: readonly { readonly node: { readonly memory: Memory; readonly reasons: readonly string[] } }[];
  } | null;
}

export const QUEUE = `query Queue {
  reviewQueue(first: 50) {
    totalCount
    edges { node { memory { shortId type title content confidenceInUse } reasons } }
  }
}`;

export interface StateAnswer {
  readonly state: { readonly state: string; readonly staleFiles: number; readonly symbols: number } | null;
}

export const STATE = `query State {
  state { state staleFiles symbols }
}`;
