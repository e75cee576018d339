// Written by `graphmem install opencode`; `graphmem uninstall opencode` removes it.
// Tells graphmem what happens in a session and puts what it remembers in front of the model. Whatever goes wrong here, the session goes on.
// One file for both: OpenCode 1 (from 1.18) takes `server` of what it exports, OpenCode 2 takes `setup`.
import { spawn } from "node:child_process"

const COMMAND = ["graphmem"]

const run = (payload) =>
  new Promise((resolve) => {
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), "hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
    let said = ""
    child.on("error", () => resolve(""))
    child.on("close", () => resolve(said))
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (part) => (said += part))
    child.stdin.on("error", () => {})
    child.stdin.end(payload)
  })

const asks = (directory) => async (event, sessionID, more = {}) => {
  try {
    const said = await run(JSON.stringify({ event, sessionID, directory, ...more }))
    return said.trim() ? JSON.parse(said).context || "" : ""
  } catch {
    return ""
  }
}

const texts = () => {
  const waiting = new Map() // session -> text for its system prompts
  return {
    add: (sessionID, text) => text && waiting.set(sessionID, [waiting.get(sessionID), text].filter(Boolean).join("\n")),
    set: (sessionID, text) => (text ? waiting.set(sessionID, text) : waiting.delete(sessionID)),
    of: (sessionID) => waiting.get(sessionID),
    forget: (sessionID) => waiting.delete(sessionID),
  }
}

// Calls nobody waits for; the host does when it goes down.
const background = () => {
  const running = new Set()
  return {
    start: (work) => {
      running.add(work)
      work.finally(() => running.delete(work))
    },
    done: () => Promise.all(running),
  }
}

const server = async ({ directory, worktree }) => {
  const ask = asks(worktree || directory)
  const waiting = texts()
  const behind = background()
  const begun = new Map() // session -> when it was told what it starts with
  const since = new Map() // call of a tool -> when it began
  const begin = (sessionID) => {
    if (!begun.has(sessionID)) begun.set(sessionID, ask("session.created", sessionID).then((text) => waiting.add(sessionID, text)))
    return begun.get(sessionID)
  }
  const compacted = async (sessionID) => {
    await ask("session.compacted", sessionID)
    waiting.set(sessionID, await ask("session.created", sessionID)) // as after a start, instead of all that was said since
  }
  return {
    event: async ({ event }) => {
      const sessionID = event.properties?.sessionID || event.properties?.info?.id
      if (!sessionID) return
      if (event.type === "session.created") {
        await begin(sessionID)
      } else if (event.type === "session.compacted") {
        await compacted(sessionID)
      } else if (event.type === "session.deleted") {
        begun.delete(sessionID)
        waiting.forget(sessionID)
        await ask(event.type, sessionID)
      }
    },
    "chat.message": async (input, output) => {
      await begin(input.sessionID) // the host does not wait for events; a session that goes on has none
      const said = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      waiting.add(input.sessionID, await ask("chat.message", input.sessionID, { prompt: said.join("\n") }))
    },
    "experimental.chat.system.transform": async (input, output) => {
      const text = waiting.of(input.sessionID)
      if (text) output.system.push(text)
    },
    "experimental.text.complete": async (input, output) => {
      if (output.text) behind.start(ask("text.complete", input.sessionID, { text: output.text }))
    },
    "tool.execute.before": async (input) => {
      since.set(input.callID, Date.now())
    },
    "tool.execute.after": async (input, output) => {
      const began = since.get(input.callID)
      since.delete(input.callID)
      const more = began === undefined ? {} : { duration_ms: Date.now() - began }
      const result = { output: output.output, metadata: output.metadata }
      const text = await ask("tool.execute.after", input.sessionID, { tool: input.tool, args: input.args, tool_response: result, ...more })
      if (text) output.output = `${output.output}\n\n${text}`
    },
    dispose: async () => {
      await behind.done()
      await Promise.all([...begun.keys()].map((sessionID) => ask("session.deleted", sessionID)))
      begun.clear()
    },
  }
}

const setup = async (ctx) => {
  const ask = asks(ctx.location?.project?.directory || ctx.location?.directory || process.cwd())
  const waiting = texts()
  const begun = new Set()
  const end = async (sessionID) => {
    if (begun.delete(sessionID)) await ask("session.deleted", sessionID)
    waiting.forget(sessionID)
  }
  await ctx.session.hook("prompt", async (event) => {
    if (!begun.has(event.sessionID)) {
      begun.add(event.sessionID)
      waiting.add(event.sessionID, await ask("session.created", event.sessionID))
    }
    waiting.add(event.sessionID, await ask("chat.message", event.sessionID, { prompt: event.prompt?.text || "" }))
  })
  await ctx.session.hook("context", (event) => {
    const text = waiting.of(event.sessionID)
    if (text) event.system.push({ type: "text", text })
  })
  await ctx.session.hook("compaction", async (event) => {
    await ask("session.compacted", event.sessionID)
    waiting.set(event.sessionID, await ask("session.created", event.sessionID))
  })
  await ctx.tool.hook("execute.after", async (event) => {
    const { content, output, metadata } = event.result || {}
    const response = event.status === "error" ? { error: String(event.error?.message || event.error) } : { output: content ?? output, metadata }
    const text = await ask("tool.execute.after", event.sessionID, { tool: event.tool, args: event.input, tool_response: response })
    if (!text) return
    if (typeof content === "string") event.result = { ...event.result, content: `${content}\n\n${text}` }
    else if (Array.isArray(content)) event.result = { ...event.result, content: [...content, { type: "text", text }] }
    else waiting.add(event.sessionID, text)
  })
  const stop = new AbortController()
  const listen = async () => {
    try {
      for await (const event of ctx.event.subscribe({ signal: stop.signal })) {
        if (event.type === "session.deleted") await end(event.data?.sessionID || event.properties?.info?.id)
      }
    } catch {
      // the host goes down, or tells of no events: a session that is never ended here is taken as ended when it was quiet for hours
    }
  }
  listen()
  return async () => {
    stop.abort()
    await Promise.all([...begun].map(end))
  }
}

export default { id: "graphmem", server, setup }
