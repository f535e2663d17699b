// PTX or SASS of one version beside the editor, or of two beside each other. Lines light up in the editor and in the view alike.
import { readFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

import { tell } from '../failures';
import { withProgress } from '../progress';
import type { Request } from '../webview/state';
import { type Assembly, assemblyState } from './assemblyModel';
import type { Panel, Panels } from './panel';
import { revealLine } from './reveal';

export class AssemblyView implements vscode.Disposable {
    private readonly decoration = vscode.window.createTextEditorDecorationType({
        isWholeLine: true,
        backgroundColor: new vscode.ThemeColor('editor.findMatchHighlightBackground'),
        overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.findMatchForeground'),
    });
    private readonly subscriptions: vscode.Disposable[];
    /** The document that the view shows, its compiled version, and its lines that have instructions. */
    private shown: { panel: Panel; document: vscode.TextDocument; version: number; lines: ReadonlySet<number> } | undefined;

    constructor(private readonly panels: Panels) {
        this.subscriptions = [
            this.decoration,
            vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) =>
                this.follow(textEditor, selections[0]?.active.line),
            ),
        ];
    }

    async show(client: LanguageClient, uri: string, line: number, isComparison = false): Promise<void> {
        const resource = client.protocol2CodeConverter.asUri(uri);
        const document = await vscode.workspace.openTextDocument(resource);
        const { version } = document;
        const saved = isComparison ? await readFile(resource.fsPath, 'utf8') : '';
        const assembly = await withProgress('compiling', (token) =>
            client.sendRequest<Assembly>(
                'kernelskill/assembly',
                { textDocument: { uri }, line, ...(isComparison ? { against: { saved: true } } : {}) },
                token,
            ),
        );
        const isSaved = isComparison && saved === document.getText();
        const state = assemblyState(assembly, isSaved ? ['The text is as it was saved.'] : []);
        const again = (request: Request) => request.ask === 'compare' && this.show(client, uri, line, request.against === 'saved');
        const panel = this.panels.panel('assembly', `Assembly of ${state.kernel}`, async (request) => {
            try {
                if (request.ask === 'reveal') await revealLine(resource, request.line);
                if (request.ask === 'light') this.light(request.line);
                await again(request);
            } catch (error) {
                void tell(client, error);
            }
        });
        const lines = state.listings.at(-1)!.instructions.map((each) => each.line).filter((each) => each !== undefined);
        this.shown = { panel, document, version, lines: new Set(lines) };
        panel.onDidDispose(() => this.forget(panel));
        panel.show(state);
        this.follow(this.editor, line);
    }

    dispose(): void {
        for (const subscription of this.subscriptions) subscription.dispose();
    }

    /** The editor that shows the document, if one does. */
    private get editor(): vscode.TextEditor | undefined {
        return vscode.window.visibleTextEditors.find(({ document }) => document === this.shown?.document);
    }

    /** Highlights the source line of an instruction, unless the text has changed since. */
    private light(line: number): void {
        const { shown, editor } = this;
        if (!shown || !editor || shown.document.version !== shown.version) return;
        const range = shown.document.lineAt(line).range;
        editor.setDecorations(this.decoration, [range]);
        editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }

    /** Highlights the instructions of the cursor's line. */
    private follow(editor: vscode.TextEditor | undefined, line: number | undefined): void {
        const { shown } = this;
        if (!shown || !editor || editor.document !== shown.document || line === undefined) return;
        const isLit = shown.document.version === shown.version && shown.lines.has(line);
        editor.setDecorations(this.decoration, isLit ? [shown.document.lineAt(line).range] : []);
        if (isLit) shown.panel.light(line);
    }

    private forget(panel: Panel): void {
        if (this.shown?.panel !== panel) return;
        this.editor?.setDecorations(this.decoration, []);
        this.shown = undefined;
    }
}
