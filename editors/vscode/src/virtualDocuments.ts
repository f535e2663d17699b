// Texts that no file holds, as read-only documents under the scheme kernelskill:.
import * as vscode from 'vscode';

const scheme = 'kernelskill';

export class VirtualDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
    private readonly texts = new Map<string, string>();
    private readonly changed = new vscode.EventEmitter<vscode.Uri>();
    private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);
    readonly onDidChange = this.changed.event;

    provideTextDocumentContent(uri: vscode.Uri): string {
        return this.texts.get(uri.path) ?? '';
    }

    put(name: string, text: string): vscode.Uri {
        const uri = vscode.Uri.from({ scheme, path: `/${name}` });
        this.texts.set(uri.path, text);
        this.changed.fire(uri);
        return uri;
    }

    dispose(): void {
        this.registration.dispose();
        this.changed.dispose();
    }
}
