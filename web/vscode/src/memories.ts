import * as vscode from "vscode";

export interface Row {
  readonly memory: { readonly title: string; readonly content: string };
  readonly note: string;
}

/** A list of memories, filled by a question that may fail. */
export class MemoryList implements vscode.TreeDataProvider<Row> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private rows: readonly Row[] = [];
  private asked = 0;

  /** @param empty - what the view says when there is nothing to list. */
  constructor(
    private readonly empty: string,
    private readonly ask: () => Promise<readonly Row[]>,
  ) {}

  async refresh(view: vscode.TreeView<Row>): Promise<void> {
    const mine = ++this.asked;
    try {
      const rows = await this.ask();
      if (mine !== this.asked) return;
      this.rows = rows;
      view.message = rows.length > 0 ? "" : this.empty;
    } catch (error) {
      if (mine !== this.asked) return;
      this.rows = [];
      view.message = error instanceof Error ? error.message : String(error);
    }
    this.changed.fire();
  }

  getChildren(row?: Row): Row[] {
    return row === undefined ? [...this.rows] : [];
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const item = new vscode.TreeItem(row.memory.title);
    item.description = row.note;
    const text = new vscode.MarkdownString();
    text.appendText(row.memory.content);
    item.tooltip = text;
    return item;
  }
}
