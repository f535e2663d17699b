// The commands that the user can call by name.
import { execFile } from 'node:child_process';
import * as vscode from 'vscode';
import {
    CodeActionRequest,
    ExecuteCommandRequest,
    type CodeAction,
    type LanguageClient,
} from 'vscode-languageclient/node';

import { languages, type Server, verifyingCommand } from './client';
import { messageOf, tell } from './failures';
import type { Entry } from './kernels/kernelList';
import type { KernelsView } from './kernels/kernelsView';
import { generateModel } from './generateModel';
import type { CommandName } from './manifest';
import { withProgress } from './progress';
import type { AssemblyView } from './views/assemblyView';
import type { EditPreview } from './views/editPreview';
import type { MemoryView } from './views/memoryView';
import type { ModelView } from './views/modelView';
import type { ProfileView } from './views/profileView';
import type { ProgramView } from './views/programView';
import type { RunView } from './views/runView';
import { showMenu } from './menu';

export type Commands = { readonly [name in CommandName]: (...values: unknown[]) => unknown };

/** The views in which commands show their results. */
export interface Views {
    readonly profile: ProfileView;
    readonly memory: MemoryView;
    readonly assembly: AssemblyView;
    readonly run: RunView;
    readonly model: ModelView;
    readonly preview: EditPreview;
    readonly program: ProgramView;
    readonly kernels: KernelsView;
}

export function commandsOf(server: Server, views: Views, output: vscode.LogOutputChannel): Commands {
    const inEditor = (body: EditorCommand) => () => onCudaEditor(server, views, body);
    const onEntry = (body: (client: LanguageClient, entry: Entry) => Promise<unknown>) => (entry: unknown) =>
        onRunning(server, (client) => body(client, entry as Entry));
    return {
        profileKernel: inEditor((client, editor, { profile }) => profileKernel(client, editor, profile)),
        profileOnGpu: inEditor((client, editor, { profile }) => profileKernel(client, editor, profile, 'gpu')),
        showReport: inEditor((client, editor, { profile }) => profile.show(client, uriOf(client, editor))),
        applySkill: inEditor(applySkill),
        optimizeKernel: inEditor((client, editor, { run }) =>
            run.optimize(client, { uri: uriOf(client, editor), line: editor.selection.active.line }),
        ),
        repair: inEditor(repair),
        generateModel: (archive) => onRunning(server, (client) => generateModel(client, archive, views.model)),
        verify: inEditor(verify),
        showMemory: inEditor((client, editor, { memory }) => memory.show(client, uriOf(client, editor))),
        showAssembly: inEditor((client, editor, { assembly }) =>
            assembly.show(client, uriOf(client, editor), editor.selection.active.line),
        ),
        pickProgram: () => onRunning(server, pickProgram),
        runProgram: () => onRunning(server, runProgram),
        profileProgram: () => onRunning(server, (client) => profileProgram(client, views.program)),
        optimizeProgram: () => onRunning(server, optimizeProgram),
        refreshKernels: () => views.kernels.refresh(),
        sortKernels: () => views.kernels.sort(),
        filterKernels: () => views.kernels.filter(),
        showAllKernels: () => views.kernels.showAll(),
        profileEntry: onEntry(async (client, { uri, kernel }) => {
            await opened(client, uri);
            await views.profile.show(client, uri, kernel.name);
        }),
        optimizeEntry: onEntry(async (client, { uri, kernel }) => {
            await opened(client, uri);
            await views.run.optimize(client, { uri, kernel: kernel.name });
        }),
        cancelRun: () => views.run.cancel(),
        applyPreview: (uri) => views.preview.answerFor(uri, true),
        discardPreview: (uri) => views.preview.answerFor(uri, false),
        restart: () => server.restart(),
        showOutput: () => output.show(true),
        doctor: () => doctor(server, output),
        menu: () => showMenu(views.run.isRunning),
    };
}

type EditorCommand = (client: LanguageClient, editor: vscode.TextEditor, views: Views) => Promise<unknown>;

async function onCudaEditor(server: Server, views: Views, command: EditorCommand): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor || !languages.includes(editor.document.languageId)) {
        void vscode.window.showInformationMessage('KernelSkill: open a CUDA file first.');
        return;
    }
    await onRunning(server, (client) => command(client, editor, views));
}

async function onRunning(server: Server, command: (client: LanguageClient) => Promise<unknown>): Promise<void> {
    const client = await server.ready();
    if (!client) return;
    try {
        await command(client);
    } catch (error) {
        void tell(client, error, () => onRunning(server, command));
    }
}

async function opened(client: LanguageClient, uri: string): Promise<void> {
    await vscode.window.showTextDocument(client.protocol2CodeConverter.asUri(uri), { viewColumn: vscode.ViewColumn.One });
}

async function execute(client: LanguageClient, command: string, argument: object, title: string): Promise<unknown> {
    return withProgress(title, (token) =>
        client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [argument] }, token),
    );
}

async function profileKernel(
    client: LanguageClient,
    editor: vscode.TextEditor,
    view: ProfileView,
    on: 'emulator' | 'gpu' = 'emulator',
): Promise<void> {
    const uri = uriOf(client, editor);
    const argument = { uri, line: editor.selection.active.line, on };
    const title = on === 'gpu' ? 'profiling on the GPU' : 'profiling';
    const profile = (await execute(client, 'kernelskill.profile', argument, title)) as { kernel: string };
    await view.show(client, uri, profile.kernel);
}

async function repair(client: LanguageClient, editor: vscode.TextEditor): Promise<void> {
    await execute(client, 'kernelskill.repair', { uri: uriOf(client, editor) }, 'looking for a fix');
}

/** Checks the kernels that differ from git's HEAD. The server shows what it found. */
async function verify(client: LanguageClient, editor: vscode.TextEditor): Promise<void> {
    await execute(client, 'kernelskill.verify', { uri: uriOf(client, editor) }, 'verifying');
}

/** A program of the workspace, as the server's `kernelskill/programs` lists it. */
interface Program {
    readonly name: string;
    readonly command: readonly string[];
    readonly origin: string;
}

/** Lets the user pick the program that runs this workspace's kernels; the server remembers it for the workspace. */
async function pickProgram(client: LanguageClient): Promise<boolean> {
    const document = currentDocument(client);
    const { programs, picked } = await client.sendRequest<{ programs: Program[]; picked: string }>('kernelskill/programs', {
        textDocument: document,
    });
    if (programs.length === 0) {
        void vscode.window.showInformationMessage(
            'KernelSkill: no program was found. Name one in the setting kernelskill.program.',
        );
        return false;
    }
    const choice = await vscode.window.showQuickPick(
        programs.map(({ name, command, origin }) => ({
            label: name,
            description: name === picked ? `${origin} (picked)` : origin,
            detail: command.join(' '),
        })),
        { title: 'Programs that run these kernels', placeHolder: 'Kept for this workspace' },
    );
    if (!choice) return false;
    await execute(client, 'kernelskill.pickProgram', { ...document, name: choice.label }, 'keeping the choice');
    return true;
}

/** Whether it is known which program is meant; asks if not. */
async function hasProgram(client: LanguageClient): Promise<boolean> {
    const document = currentDocument(client);
    const { programs, picked } = await client.sendRequest<{ programs: Program[]; picked: string }>('kernelskill/programs', {
        textDocument: document,
    });
    const isKnown = programs.length === 1 || programs.some(({ name }) => name === picked);
    return isKnown || pickProgram(client);
}

/** Builds, runs and checks the picked program; asks once which one that is. */
async function runProgram(client: LanguageClient): Promise<void> {
    if (await hasProgram(client)) await execute(client, 'kernelskill.runProgram', currentDocument(client), 'running the program');
}

/** Builds and runs the picked program, and shows which kernels take its time; asks once which one that is. */
async function profileProgram(client: LanguageClient, view: ProgramView): Promise<void> {
    if (await hasProgram(client)) await view.profile(client, currentDocument(client));
}

/** Searches the picked program's kernels in copies of the workspace. What is better comes as one edit over all files. */
async function optimizeProgram(client: LanguageClient): Promise<void> {
    if (await hasProgram(client)) await execute(client, 'kernelskill.optimizeProgram', currentDocument(client), 'optimizing the program');
}

/** The file that is open, if one is; else the first folder of the workspace is meant. */
function currentDocument(client: LanguageClient): { readonly uri?: string } {
    const editor = vscode.window.activeTextEditor;
    return editor?.document.uri.scheme === 'file' ? { uri: uriOf(client, editor) } : {};
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
    const { data } = choice.action;
    await vscode.commands.executeCommand(verifyingCommand(data) ?? 'kernelskill.applySkill', data);
}

async function doctor(server: Server, output: vscode.LogOutputChannel): Promise<void> {
    const file = server.executable();
    if (file === '') {
        await server.ready(); // says why there is no server
        return;
    }
    const folder = currentFolder();
    const options = { timeout: 60_000, env: { ...process.env, NO_COLOR: '1' }, ...(folder ? { cwd: folder.uri.fsPath } : {}) };
    execFile(file, [...toolArguments(folder), 'doctor'], options, (error, stdout, stderr) => {
        const where = folder ? ` in ${folder.uri.fsPath}` : '';
        output.info(`${file} doctor${where}\n${stdout}${stderr}${stdout || stderr ? '' : messageOf(error)}`);
        output.show(true);
    });
}

/** The folder of the file that is open; else the first of the workspace. */
function currentFolder(): vscode.WorkspaceFolder | undefined {
    const file = vscode.window.activeTextEditor?.document.uri;
    return (file && vscode.workspace.getWorkspaceFolder(file)) ?? vscode.workspace.workspaceFolders?.[0];
}

/** The folder's settings that name tools, as arguments of the command line. */
function toolArguments(folder: vscode.WorkspaceFolder | undefined): string[] {
    const settings = vscode.workspace.getConfiguration('kernelskill', folder);
    const options = [
        ['--cuda-path', settings.get<string>('parse.cudaPath', '')],
        ['--host-compiler', settings.get<string>('execution.hostCompiler', '')],
    ] as const;
    return vscode.workspace.isTrusted ? options.flatMap(([option, value]) => (value === '' ? [] : [option, value])) : [];
}

function uriOf(client: LanguageClient, editor: vscode.TextEditor): string {
    return client.code2ProtocolConverter.asUri(editor.document.uri);
}
