import * as path from "node:path";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";
import { ImpactTree, isImpact } from "./impact";
import { MemoryList, type Row } from "./memories";
import type { MemoriesQuery, MemoriesQueryVariables, QueueQuery, StateQuery } from "./generated";
import { MEMORIES, QUEUE, STATE } from "./queries";
import { Service } from "./service";

const REMEMBER = "graphmem.remember";
const EVERY_MS = 30_000;

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined || folder.uri.scheme !== "file") return;
  const service = new Service(folder.uri.fsPath);
  const impact = new ImpactTree();

  const ofFile = new MemoryList("No memories about this file.", async (): Promise<readonly Row[]> => {
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined || document.uri.scheme !== "file") return [];
    const file = path.relative(folder.uri.fsPath, document.uri.fsPath).split(path.sep).join("/");
    const answer = await service.ask<MemoriesQuery, MemoriesQueryVariables>(MEMORIES, { files: [file] });
    return (answer.memories?.edges ?? []).map((edge) => ({ memory: edge.node, note: edge.node.type }));
  });
  const queue = new MemoryList("No memory waits for review.", async (): Promise<readonly Row[]> => {
    const answer = await service.ask<QueueQuery>(QUEUE);
    return (answer.reviewQueue?.edges ?? []).map((edge) => ({ memory: edge.node.memory, note: edge.node.reasons.join(", ") }));
  });
  const memories = vscode.window.createTreeView("graphmem.memories", { treeDataProvider: ofFile });
  const review = vscode.window.createTreeView("graphmem.review", { treeDataProvider: queue });
  const impacts = vscode.window.createTreeView("graphmem.impact", { treeDataProvider: impact });

  const status = vscode.window.createStatusBarItem("graphmem", vscode.StatusBarAlignment.Right);
  status.name = "graphmem";
  status.command = "graphmem.restart";
  status.show();
  const refresh = async (): Promise<void> => {
    await Promise.all([ofFile.refresh(memories), queue.refresh(review), showState(status, service)]);
  };

  const start = async (): Promise<void> => {
    await client?.stop();
    client = newClient(folder, async (command, args, next) => {
      const given = command === REMEMBER ? await withText(args) : args;
      if (given === undefined) return undefined;
      const found: unknown = await next(command, given);
      if (isImpact(found)) {
        impact.show(found);
        impacts.message = `${found.name}: risk ${found.risk}`;
        await vscode.commands.executeCommand("graphmem.impact.focus");
      }
      if (command === REMEMBER) await refresh();
      return found;
    });
    status.text = "$(sync~spin) graphmem";
    await client.start();
    await refresh();
  };

  const timer = setInterval(() => void showState(status, service), EVERY_MS);
  context.subscriptions.push(
    memories,
    review,
    impacts,
    status,
    { dispose: () => clearInterval(timer) },
    vscode.commands.registerCommand("graphmem.refreshMemories", refresh),
    vscode.commands.registerCommand("graphmem.restart", start),
    vscode.window.onDidChangeActiveTextEditor(() => void ofFile.refresh(memories)),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

type Run = (command: string, args: unknown[], next: (command: string, args: unknown[]) => unknown) => Promise<unknown>;

function newClient(folder: vscode.WorkspaceFolder, run: Run): LanguageClient {
  const settings = vscode.workspace.getConfiguration("graphmem");
  const [command = "graphmem", ...args] = settings.get<string[]>("command", ["graphmem", "lsp"]);
  const server: ServerOptions = { command, args: [...args, folder.uri.fsPath], options: { cwd: folder.uri.fsPath } };
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file" }],
    initializationOptions: { features: settings.get<Record<string, boolean>>("features", {}) },
    middleware: { executeCommand: (name, given: unknown[], next) => run(name, given, next) },
  };
  return new LanguageClient("graphmem", "graphmem", server, options);
}

/** The arguments of *Remember* with the text that a person writes; undefined if they write none. */
async function withText(args: unknown[]): Promise<unknown[] | undefined> {
  const text = await vscode.window.showInputBox({ prompt: "What should graphmem remember about this code?" });
  return text === undefined || text.trim() === "" ? undefined : [...args, text];
}

async function showState(item: vscode.StatusBarItem, service: Service): Promise<void> {
  try {
    const { state } = await service.ask<StateQuery>(STATE);
    const stale = state?.staleFiles ?? 0;
    item.text = stale > 0 ? `$(sync) graphmem: stale files: ${stale}` : "$(type-hierarchy) graphmem";
    item.tooltip = state == null ? "the state of the index is unknown" : `${state.state.toLowerCase()}, ${state.symbols.toLocaleString()} symbols`;
  } catch (error) {
    item.text = "$(warning) graphmem";
    item.tooltip = error instanceof Error ? error.message : String(error);
  }
}
