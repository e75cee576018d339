// The query page: GraphiQL talking to the server it came from, and to nobody else.
//
// The token comes from the address (…/graphql#token=…, which browsers never send anywhere) or from the form,
// and stays in this tab.

/* global React, ReactDOM, GraphiQL */
"use strict";

const ENDPOINT = new URL(window.location.pathname, window.location.href).href;
const TOKEN_KEY = "graphmem-token";
const INDEX = "graphmem-index"; // header that names the index an answer comes from, and the one a request is meant for

const EXAMPLE = `# Ask the graph of this repository.
# Ctrl-Space completes, Ctrl-Enter runs,
# the book on the left shows the schema.

query Overview {
  project {
    name
    state {
      state
      files
      symbols
      edges
    }
  }
  symbols(first: 5, kinds: [CLASS]) {
    totalCount
    edges {
      node {
        ref
        callers(first: 3) {
          edges {
            confidence
            rule
            lines
            node {
              ref
            }
          }
        }
      }
    }
  }
}
`;

// One tab each, after the first; the names are those of queries/operations, where every ready-made operation is.
const EXAMPLES = [
  EXAMPLE,
  `# What breaks if this changes, and which tests to run?
# Write a name of your own: a function, Class.method, path:line.

query WhatBreaks($target: String! = "main") {
  impact(targets: [$target], maxDepth: 3) {
    total
    risk {
      level
      reasons
    }
    hits {
      depth
      confidence
      symbol {
        ref
      }
    }
    tests {
      symbol {
        ref
      }
    }
  }
}
`,
  `# What is it made of, and what goes against the layers?

query MadeOf {
  modules {
    modules {
      name
      layer
      files
      summary
    }
    dependencies {
      srcName
      dstName
      weight
      upward
    }
  }
  cycles(level: MODULES, limit: 3) {
    cycles {
      example
      cheapest {
        src
        dst
        weight
      }
    }
  }
}
`,
  `# Where does change hurt, what could go, what changed lately?

query WhereItHurts {
  hotspots(limit: 10) {
    hotspots {
      score
      churn
      complexity
      dependents
      symbol {
        ref
      }
    }
  }
  deadCode(limit: 10) {
    symbols {
      confidence
      reason
      symbol {
        ref
      }
    }
  }
  commits(limit: 5) {
    commits {
      at
      subject
      modules
    }
  }
}
`,
  `# Words, names or a question: code and memories.

query Search($query: String! = "how is a file read") {
  search(query: $query, limit: 5) {
    answered
    hits {
      kind
      id
      score
      snippet
      memories {
        title
      }
    }
  }
}
`,
];

const fragment = new URLSearchParams(window.location.hash.slice(1));
if (fragment.has("token")) {
  sessionStorage.setItem(TOKEN_KEY, fragment.get("token"));
  history.replaceState(null, "", window.location.pathname + window.location.search);
}

// Of a server with several projects, the page of a project is at /p/NAME/graphql, and its explorer beside it.
document.querySelector("nav a").href = new URL(`${window.location.pathname.replace(/\/+$/, "")}/../explore/`, window.location.href).pathname;

const form = document.getElementById("token-form");
form.addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN_KEY, document.getElementById("token").value);
  form.hidden = true;
  render();
});

function askForToken(answer) {
  form.hidden = false;
  document.getElementById("token-error").textContent = sessionStorage.getItem(TOKEN_KEY) ? answer.errors[0].message : "";
}

let index = ""; // of the first answer; the server refuses what is meant for another

async function post(params, options, accept) {
  const headers = { "content-type": "application/json", accept, ...(options?.headers ?? {}) };
  if (index) headers[INDEX] = index;
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token && !("Authorization" in headers)) {
    headers.authorization = `Bearer ${token}`;
  }
  const response = await fetch(ENDPOINT, { method: "POST", headers, body: JSON.stringify(params) });
  response.tokenSent = token;
  if (response.ok) index ||= response.headers.get(INDEX) ?? ""; // of a server with several projects, the server itself refuses
  return response;
}

async function answer(response) {
  const body = await response.json();
  // A request that was under way when the token was given says nothing about that token.
  if (response.status === 401 && response.tokenSent === sessionStorage.getItem(TOKEN_KEY)) {
    askForToken(body);
  }
  return body;
}

function isSubscription(params, options) {
  const operations = (options?.documentAST?.definitions ?? []).filter((node) => node.kind === "OperationDefinition");
  const chosen = operations.find((node) => !params.operationName || node.name?.value === params.operationName);
  return chosen?.operation === "subscription";
}

// Server-sent events over fetch: EventSource can send neither a body nor a token.
async function* events(params, options) {
  const response = await post(params, options, "text/event-stream");
  if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
    yield await answer(response);
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffered = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      buffered += value;
      for (let end = buffered.indexOf("\r\n\r\n"); end >= 0; end = buffered.indexOf("\r\n\r\n")) {
        const event = Object.fromEntries(buffered.slice(0, end).split("\r\n").map((line) => line.split(/: ?(.*)/s)));
        buffered = buffered.slice(end + 4);
        if (event.event === "next") {
          yield JSON.parse(event.data);
        }
      }
    }
  } finally {
    await reader.cancel();
  }
}

async function fetcher(params, options) {
  if (isSubscription(params, options)) {
    return events(params, options);
  }
  return answer(await post(params, options, "application/json"));
}

const root = ReactDOM.createRoot(document.getElementById("graphiql"));

function render() {
  const query = new URLSearchParams(window.location.search).get("query");
  root.render(
    React.createElement(GraphiQL, {
      fetcher: (params, options) => fetcher(params, options), // another function, so that the schema is read again; tabs stay
      defaultTabs: EXAMPLES.map((query) => ({ query })),
      ...(query ? { query } : {}),
      shouldPersistHeaders: false,
      defaultEditorToolsVisibility: true,
    }),
  );
}

render();
