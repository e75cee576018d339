// Written by `graphmem install opencode`; `graphmem uninstall opencode` removes it.
// Tells graphmem what happens in a session and puts what it remembers in front of the model. Whatever goes wrong here, the session goes on.
const COMMAND = ["graphmem"]

export const Graphmem = async ({ directory, worktree }) => {
  const waiting = new Map() // session -> text for the next system prompt

  const ask = async (event, sessionID, more = {}) => {
    try {
      const payload = JSON.stringify({ event, sessionID, directory: worktree || directory, ...more })
      const child = Bun.spawn([...COMMAND, "hook", "opencode"], { stdin: new Blob([payload]), stdout: "pipe", stderr: "ignore" })
      const output = await new Response(child.stdout).text()
      return output.trim() ? JSON.parse(output).context || "" : ""
    } catch {
      return ""
    }
  }

  return {
    event: async ({ event }) => {
      const info = event.properties?.info
      const sessionID = event.properties?.sessionID || info?.id
      if (!sessionID || !["session.created", "session.compacted", "session.deleted"].includes(event.type)) return
      const text = await ask(event.type, sessionID)
      if (event.type === "session.deleted") waiting.delete(sessionID)
      else if (text) waiting.set(sessionID, text)
    },
    "chat.message": async (input, output) => {
      const said = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      const text = await ask("chat.message", input.sessionID, { prompt: said.join("\n") })
      if (text) waiting.set(input.sessionID, [waiting.get(input.sessionID), text].filter(Boolean).join("\n"))
    },
    "experimental.chat.system.transform": async (input, output) => {
      const text = waiting.get(input.sessionID)
      if (text) output.system.push(text)
    },
    "tool.execute.after": async (input, output) => {
      const result = { output: output.output, metadata: output.metadata }
      const text = await ask("tool.execute.after", input.sessionID, { tool: input.tool, args: input.args, tool_response: result })
      if (text) output.output = `${output.output}\n\n${text}`
    },
  }
}
