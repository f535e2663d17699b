// Reports as read-only documents under the scheme kernelskill:, shown in the Markdown preview.
import * as vscode from 'vscode';

export const scheme = 'kernelskill';

export class Reports implements vscode.TextDocumentContentProvider, vscode.Disposable {
    private readonly texts = new Map<string, string>();
    private readonly changed = new vscode.EventEmitter<vscode.Uri>();
    private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);
    readonly onDidChange = this.changed.event;

    provideTextDocumentContent(uri: vscode.Uri): string {
        return this.texts.get(uri.path) ?? 'This report is no longer there. Run the command again.';
    }

    async show(name: string, text: string): Promise<void> {
        const uri = vscode.Uri.from({ scheme, path: `/${name}.md` });
        this.texts.set(uri.path, text);
        this.changed.fire(uri);
        await vscode.commands.executeCommand('markdown.showPreviewToSide', uri);
    }

    dispose(): void {
        this.registration.dispose();
        this.changed.dispose();
    }
}
