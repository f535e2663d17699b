// What the user can call by name.
import { execFile } from 'node:child_process';
import * as vscode from 'vscode';
import {
    CodeActionRequest,
    CodeActionResolveRequest,
    ExecuteCommandRequest,
    type CodeAction,
    type LanguageClient,
} from 'vscode-languageclient/node';

import { languages, messageOf, type Server } from './client';
import type { CommandName } from './manifest';

export type Commands = { readonly [name in CommandName]: (...values: unknown[]) => unknown };

export function commandsOf(server: Server, output: vscode.LogOutputChannel): Commands {
    return {
        profileKernel: () => onCudaEditor(server, profileKernel),
        profileOnGpu: () => onCudaEditor(server, profileOnGpu),
        showReport: () => onCudaEditor(server, showReport),
        applySkill: () => onCudaEditor(server, applySkill),
        optimizeKernel: () => onCudaEditor(server, optimizeKernel),
        repair: () => onCudaEditor(server, repair),
        showMemory: () => onCudaEditor(server, showMemory),
        restart: () => server.restart(),
        showOutput: () => output.show(true),
        doctor: () => doctor(server, output),
    };
}

type EditorCommand = (client: LanguageClient, editor: vscode.TextEditor, server: Server) => Promise<void>;

async function onCudaEditor(server: Server, command: EditorCommand): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor || !languages.includes(editor.document.languageId)) {
        void vscode.window.showInformationMessage('KernelSkill: open a CUDA file first.');
        return;
    }
    const client = server.running();
    if (!client) return;
    try {
        await command(client, editor, server);
    } catch (error) {
        void vscode.window.showErrorMessage(`KernelSkill: ${messageOf(error)}`);
    }
}

async function execute(client: LanguageClient, command: string, argument: object, title: string): Promise<unknown> {
    return withProgress(title, (token) =>
        client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument] }, token),
    );
}

function withProgress<T>(title: string, work: (token: vscode.CancellationToken) => Promise<T>): Thenable<T> {
    const location = vscode.ProgressLocation.Notification;
    return vscode.window.withProgress({ location, title: `KernelSkill: ${title}`, cancellable: true }, (_, token) =>
        work(token),
    );
}

async function profileKernel(client: LanguageClient, editor: vscode.TextEditor, server: Server): Promise<void> {
    const argument = { uri: uriOf(client, editor), line: editor.selection.active.line };
    const profile = await execute(client, 'kernelskill.profile', argument, 'profiling');
    await server.present('kernelskill.profile', profile);
}

async function profileOnGpu(client: LanguageClient, editor: vscode.TextEditor, server: Server): Promise<void> {
    const argument = { uri: uriOf(client, editor), line: editor.selection.active.line, on: 'gpu' };
    const profile = await execute(client, 'kernelskill.profile', argument, 'profiling on the GPU');
    await server.present('kernelskill.profile', profile);
}

/** The page needs no script and loads nothing, so that it may do neither here. */
async function showReport(client: LanguageClient, editor: vscode.TextEditor): Promise<void> {
    const params = { textDocument: { uri: uriOf(client, editor) } };
    const { title, html } = await withProgress('writing a report', (token) =>
        client.sendRequest<{ title: string; html: string }>('kernelskill/report', params, token),
    );
    const panel = vscode.window.createWebviewPanel('kernelskill.report', title, vscode.ViewColumn.Beside, {
        enableScripts: false,
        localResourceRoots: [],
    });
    panel.webview.html = html;
}

async function showMemory(client: LanguageClient, editor: vscode.TextEditor, server: Server): Promise<void> {
    const memory = await execute(client, 'kernelskill.showMemory', { uri: uriOf(client, editor) }, 'reading memory');
    await server.present('kernelskill.showMemory', memory);
}

/** The server shows the progress of each round, which the user can cancel, and ends in an edit to preview. */
async function optimizeKernel(client: LanguageClient, editor: vscode.TextEditor): Promise<void> {
    const argument = { uri: uriOf(client, editor), line: editor.selection.active.line };
    await client.sendRequest(ExecuteCommandRequest.type, { command: 'kernelskill.optimize', arguments: [argument] });
}

async function repair(client: LanguageClient, editor: vscode.TextEditor): Promise<void> {
    await execute(client, 'kernelskill.repair', { uri: uriOf(client, editor) }, 'looking for a fix');
}

/** Lets the user pick from the skills that fit at the cursor, verifies the choice and applies it. */
async function applySkill(client: LanguageClient, editor: vscode.TextEditor): Promise<void> {
    const actions = await client.sendRequest(CodeActionRequest.type, {
        textDocument: { uri: uriOf(client, editor) },
        range: client.code2ProtocolConverter.asRange(editor.selection),
        context: { diagnostics: [], only: ['refactor.rewrite'] },
    });
    const items = (actions ?? [])
        .filter((action): action is CodeAction => 'kind' in action && !('disabled' in action && action.disabled))
        .map((action) => ({ label: action.title, description: action.kind ?? '', action }));
    if (items.length === 0) {
        void vscode.window.showInformationMessage('KernelSkill: no skill fits here.');
        return;
    }
    const choice = await vscode.window.showQuickPick(items, {
        title: 'Skills that fit here',
        placeHolder: 'The edit is compiled and checked against the original before it is applied',
    });
    if (!choice) return;
    const resolved = choice.action.edit
        ? choice.action
        : await withProgress(`verifying "${choice.label}"`, (token) =>
              client.sendRequest(CodeActionResolveRequest.type, choice.action, token),
          );
    const edit = await client.protocol2CodeConverter.asWorkspaceEdit(resolved.edit);
    if (edit && !(await vscode.workspace.applyEdit(edit))) {
        void vscode.window.showWarningMessage('KernelSkill: the file changed meanwhile; nothing was applied.');
    }
}

function doctor(server: Server, output: vscode.LogOutputChannel): void {
    const file = server.executable();
    if (file === '') {
        server.running(); // says that it is not
        return;
    }
    execFile(file, ['doctor'], { timeout: 60_000, env: { ...process.env, NO_COLOR: '1' } }, (error, stdout, stderr) => {
        output.info(`${file} doctor\n${stdout}${stderr}${stdout || stderr ? '' : messageOf(error)}`);
        output.show(true);
    });
}

function uriOf(client: LanguageClient, editor: vscode.TextEditor): string {
    return client.code2ProtocolConverter.asUri(editor.document.uri);
}
