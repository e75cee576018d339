import * as vscode from "vscode";

export interface Hit {
  readonly symbol: string;
  readonly confidence: number;
  readonly depth: number;
  readonly uri: string;
  readonly line: number;
}

export interface Impact {
  readonly name: string;
  readonly risk: string;
  readonly hits: readonly Hit[];
  readonly tests: readonly Hit[];
}

type Node = { readonly zone: string; readonly hits: readonly Hit[] } | Hit;

/** Dependents of a change in three zones: direct, further, and tests. */
export class ImpactTree implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private found: Impact | undefined;

  show(found: Impact): void {
    this.found = found;
    this.changed.fire();
  }

  getChildren(node?: Node): readonly Node[] & Node[] {
    if (node !== undefined) return "zone" in node ? [...node.hits] : [];
    if (this.found === undefined) return [];
    const { hits, tests } = this.found;
    const zones = [
      { zone: "Direct dependents", hits: hits.filter((one) => one.depth <= 1) },
      { zone: "Indirect dependents", hits: hits.filter((one) => one.depth > 1) },
      { zone: "Tests to run", hits: tests },
    ];
    return zones.filter((one) => one.hits.length > 0);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if ("zone" in node) {
      const item = new vscode.TreeItem(`${node.zone} (${node.hits.length})`, vscode.TreeItemCollapsibleState.Expanded);
      return item;
    }
    const item = new vscode.TreeItem(node.symbol.slice(node.symbol.indexOf(":") + 1));
    const place = new vscode.Position(Math.max(0, node.line - 1), 0);
    item.description = `${Math.round(node.confidence * 100)} % · ${node.symbol.slice(0, node.symbol.indexOf(":"))}`;
    item.command = {
      title: "Open",
      command: "vscode.open",
      arguments: [vscode.Uri.parse(node.uri), { selection: new vscode.Range(place, place) }],
    };
    return item;
  }
}

export function isImpact(value: unknown): value is Impact {
  return typeof value === "object" && value !== null && "hits" in value && "tests" in value;
}
