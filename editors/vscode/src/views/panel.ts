// A webview panel that shows a state, or a page of the server's.
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

import reportStyle from '../webview/report.css';
import style from '../webview/style.css';
import type { Light, Request, State } from '../webview/state';
import { dressed } from './reportPage';

export type Listener = (request: Request) => unknown;

/** One panel for each `name`: shown again, it is the same. */
export class Panels implements vscode.Disposable {
    private readonly open = new Map<string, Panel>();

    constructor(private readonly extension: vscode.Uri) {}

    panel(name: string, title: string, listener: Listener): Panel {
        let panel = this.open.get(name);
        if (!panel) {
            panel = new Panel(this.extension, name);
            this.open.set(name, panel);
            panel.onDidDispose(() => this.open.delete(name));
        }
        panel.listen(title, listener);
        return panel;
    }

    isOpen(name: string): boolean {
        return this.open.has(name);
    }

    dispose(): void {
        for (const panel of this.open.values()) panel.dispose();
    }
}

export class Panel implements vscode.Disposable {
    private readonly panel: vscode.WebviewPanel;
    private readonly script: vscode.Uri;
    private state: State | undefined;
    private listener: Listener = () => undefined;
    readonly onDidDispose: vscode.Event<void>;
    isDisposed = false;

    constructor(extension: vscode.Uri, name: string) {
        const dist = vscode.Uri.joinPath(extension, 'dist');
        this.panel = vscode.window.createWebviewPanel(
            `kernelskill.${name}`,
            '',
            { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
            { enableScripts: true, localResourceRoots: [dist], retainContextWhenHidden: false },
        );
        this.script = this.panel.webview.asWebviewUri(vscode.Uri.joinPath(dist, 'webview.js'));
        this.onDidDispose = this.panel.onDidDispose;
        this.panel.onDidDispose(() => (this.isDisposed = true));
        this.panel.webview.onDidReceiveMessage((request: Request) => {
            if (request.ask !== 'state') return this.listener(request);
            if (this.state) return this.panel.webview.postMessage(this.state);
        });
    }

    listen(title: string, listener: Listener): void {
        this.panel.title = title;
        this.listener = listener;
        if (!this.panel.visible) this.panel.reveal(undefined, true);
    }

    /** Draws it; a page that is not there yet asks for it when it is. */
    show(state: State): void {
        const isFirst = this.state === undefined;
        this.state = state;
        if (isFirst) this.panel.webview.html = this.page(state.view);
        else void this.panel.webview.postMessage(state);
    }

    /** The editor's cursor is on this line, from 0. */
    light(line: number): void {
        void this.panel.webview.postMessage({ light: line } satisfies Light);
    }

    /** A page that the server wrote. */
    showReport(html: string): void {
        this.state = undefined;
        this.panel.webview.html = dressed(html, { nonce: nonce(), style: reportStyle, script: this.script.toString() });
    }

    dispose(): void {
        this.panel.dispose();
    }

    private page(view: string): string {
        const key = nonce();
        const policy = `default-src 'none'; style-src 'nonce-${key}'; script-src 'nonce-${key}'`;
        return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>KernelSkill</title><style nonce="${key}">${style}</style></head>
<body data-view="${view}"><main></main><script nonce="${key}" src="${this.script.toString()}"></script></body></html>`;
    }
}

function nonce(): string {
    return randomBytes(16).toString('hex');
}
