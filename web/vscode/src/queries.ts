/** What the extension asks over GraphQL, because the Language Server Protocol has no words for it. `npm run generate` types the answers. */

export const MEMORIES = /* GraphQL */ `
  query Memories($files: [String!]!) {
    memories(filter: { files: $files }, first: 50) {
      totalCount
      edges { node { shortId type title content confidenceInUse } }
    }
  }
`;

export const QUEUE = /* GraphQL */ `
  query Queue {
    reviewQueue(first: 50) {
      totalCount
      edges { node { memory { shortId type title content confidenceInUse } reasons } }
    }
  }
`;

export const STATE = /* GraphQL */ `
  query State {
    state { state staleFiles symbols }
  }
`;
