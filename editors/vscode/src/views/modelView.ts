// The report of a model that was generated from a PyTorch program.
import * as vscode from 'vscode';

import type { Panels } from './panel';

export class ModelView {
    constructor(private readonly panels: Panels) {}

    async show(title: string, report: vscode.Uri): Promise<void> {
        const html = new TextDecoder().decode(await vscode.workspace.fs.readFile(report));
        this.panels.panel('model', title, () => undefined).showReport(html);
    }
}
