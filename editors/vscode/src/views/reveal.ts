import * as vscode from 'vscode';

/** Opens the file where the user has text, with the cursor on the line, which counts from 0. */
export async function revealLine(resource: vscode.Uri, line: number): Promise<void> {
    const selection = new vscode.Range(line, 0, line, 0);
    await vscode.window.showTextDocument(resource, { viewColumn: vscode.ViewColumn.One, selection });
}
