// The attempts on a file, and trying them again.
import * as vscode from 'vscode';
import {
    CodeActionRequest,
    CodeActionResolveRequest,
    ExecuteCommandRequest,
    type CodeAction,
    type LanguageClient,
} from 'vscode-languageclient/node';

import { tell } from '../failures';
import { withProgress } from '../progress';
import type { VirtualDocuments } from '../virtualDocuments';
import type { Kernel } from '../kernels/kernelList';
import type { Request } from '../webview/state';
import { type Attempt, attemptsOf, type MemoryEntry } from './attempts';
import { textAfter } from './editPreview';
import type { Panels } from './panel';

interface Memory {
    readonly entries: readonly MemoryEntry[];
    readonly problems?: readonly string[];
}

export async function readMemory(client: LanguageClient, uri: string): Promise<Memory> {
    return client.sendRequest<Memory>('kernelskill/memory', { textDocument: { uri } });
}

export class MemoryView {
    constructor(
        private readonly panels: Panels,
        private readonly documents: VirtualDocuments,
    ) {}

    async show(client: LanguageClient, uri: string): Promise<void> {
        const resource = client.protocol2CodeConverter.asUri(uri);
        const file = vscode.workspace.asRelativePath(resource);
        const kernels = await client.sendRequest<readonly Kernel[]>('kernelskill/kernels', { textDocument: { uri } });
        const memory = await readMemory(client, uri);
        const attempts = attemptsOf(memory.entries);
        const panel = this.panels.panel('memory', `Memory of ${file}`, async (request: Request) => {
            const attempt = 'id' in request ? attempts.find(({ id }) => id === request.id) : undefined;
            if (!attempt) return;
            try {
                if (request.ask === 'showEdit') await this.showEdit(client, uri, kernels, attempt);
                if (request.ask === 'tryAnyway') await tryAnyway(client, uri, attempt);
            } catch (error) {
                void tell(client, error);
            }
            if (!panel.isDisposed && request.ask === 'tryAnyway') await this.show(client, uri);
        });
        panel.show({
            view: 'memory',
            file,
            attempts,
            kernels: kernels.map(({ name }) => name),
            problems: memory.problems ?? [],
        });
    }

    /** Shows the skill's edit of the present text beside it. The edit is checked first: a wrong one is not shown. */
    private async showEdit(client: LanguageClient, uri: string, kernels: readonly Kernel[], attempt: Attempt): Promise<void> {
        const kernel = kernels.find(({ name }) => name === attempt.kernel);
        const actions = await client.sendRequest(CodeActionRequest.type, {
            textDocument: { uri },
            range: kernel!.range,
            context: { diagnostics: [], only: [`refactor.rewrite.${attempt.skill}`] },
        });
        const action = (actions ?? []).find((each): each is CodeAction => 'kind' in each);
        if (!action) throw new Error(`${attempt.skill} does not fit ${attempt.kernel} any more`);
        const resolved = await withProgress(`verifying ${attempt.skill}`, (token) =>
            client.sendRequest(CodeActionResolveRequest.type, action, token),
        );
        const resource = client.protocol2CodeConverter.asUri(uri);
        const edit = await client.protocol2CodeConverter.asWorkspaceEdit(resolved.edit);
        const document = await vscode.workspace.openTextDocument(resource);
        const text = textAfter(document, edit?.get(resource) ?? []);
        const proposed = this.documents.put(`${attempt.skill}/${vscode.workspace.asRelativePath(resource)}`, text);
        await vscode.commands.executeCommand('vscode.diff', resource, proposed, `${attempt.skill} on ${attempt.kernel}`);
    }
}

async function tryAnyway(client: LanguageClient, uri: string, { skill, kernel }: Attempt): Promise<void> {
    await withProgress(`trying ${skill}`, (token) =>
        client.sendRequest(
            ExecuteCommandRequest.type,
            { command: 'kernelskill.applySkill', arguments: [{ uri, skill, kernel }] },
            token,
        ),
    );
}
