// Source beside PTX or SASS, of one version or of two.
import { readFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

import { withProgress } from '../progress';
import { type Assembly, assemblyState } from './assemblyModel';
import type { Panels } from './panel';
import { revealLine } from './reveal';

export class AssemblyView {
    constructor(private readonly panels: Panels) {}

    async show(client: LanguageClient, uri: string, line: number, isComparison = false): Promise<void> {
        const resource = client.protocol2CodeConverter.asUri(uri);
        const document = await vscode.workspace.openTextDocument(resource);
        const text = document.getText();
        const saved = isComparison ? await readFile(resource.fsPath, 'utf8') : '';
        const assembly = await withProgress('compiling', (token) =>
            client.sendRequest<Assembly>(
                'kernelskill/assembly',
                { textDocument: { uri }, line, ...(isComparison ? { against: { saved: true } } : {}) },
                token,
            ),
        );
        const state = assemblyState(assembly, isComparison ? [saved, text] : [text]);
        const panel = this.panels.panel('assembly', `Assembly of ${state.kernel}`, async (request) => {
            if (request.ask === 'reveal') await revealLine(resource, request.line);
            if (request.ask !== 'compare') return;
            try {
                await this.show(client, uri, line, request.against === 'saved');
            } catch (error) {
                void vscode.window.showErrorMessage(`KernelSkill: ${error instanceof Error ? error.message : error}`);
            }
        });
        panel.show(state);
    }
}
