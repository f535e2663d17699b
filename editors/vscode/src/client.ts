// The language client: starting, stopping, settings, trust.
import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import {
    CloseAction,
    type CloseHandlerResult,
    ErrorAction,
    ExecuteCommandRequest,
    LanguageClient,
    type LanguageClientOptions,
    RevealOutputChannelOn,
    State,
} from 'vscode-languageclient/node';

import { findServer, type Found, versionProblem } from './binary';
import { BundledServer } from './bundledServer';
import { CrashPolicy } from './crashes';
import { EditorModel } from './editorModel';
import { messageOf, tell } from './failures';
import { NoticeFeature } from './noticeFeature';
import { serverSettings, type Section } from './settings';
import type { Status } from './status';
import { confirmed, type EditPreview, needsConfirmation } from './views/editPreview';
import type { MemoryView } from './views/memoryView';
import type { ProfileView } from './views/profileView';
import { isProgramProfile, type ProgramProfile } from './views/programModel';
import type { ProgramView } from './views/programView';
import type { RunView, Target } from './views/runView';

const runFile = promisify(execFile);

export const languages = ['cuda-cpp', 'cuda'];

const applySkill = 'kernelskill.applySkill';
const generate = 'kernelskill.generate';
/** Commands that check an edit, and the user's own change. */
const verifying = new Set([applySkill, generate, 'kernelskill.verify']);

/** The views that show results of lenses and actions, and the listeners to the server's state. */
export interface Audience {
    readonly profile: ProfileView;
    readonly memory: MemoryView;
    readonly run: RunView;
    readonly preview: EditPreview;
    readonly program: ProgramView;
    /** Something was found out about the file. */
    changed(uri: vscode.Uri): void;
    /** The server is up, be it again. */
    started(): void;
}

/** A client whose failures are for the log alone while its server is away, for a restart or for good: the user knows. */
class QuietClient extends LanguageClient {
    isWithoutServer = false;

    override error(message: string, data?: unknown, showNotification?: boolean | 'force'): void {
        super.error(message, data, this.isWithoutServer ? false : showNotification);
    }

    /**
     * Ends the server whatever it does. The library refuses to stop a client that is starting, or whose server has just died:
     * such a server has nothing to lose, and is killed.
     */
    async end(): Promise<void> {
        this.isWithoutServer = true;
        const { serverProcess } = this;
        try {
            await this.stop();
        } catch {
            serverProcess?.kill('SIGKILL');
        }
        await this.dispose().catch((error: unknown) => super.error(`the client did not end: ${messageOf(error)}`, error, false));
    }
}

export class Server implements vscode.Disposable {
    private client: QuietClient | undefined;
    private file = '';
    /** Counts what begins or ends a start: one that sees another number has been overtaken. */
    private starts = 0;
    private starting: Promise<void> | undefined;
    private unpacking: Promise<void> | undefined;
    private readonly bundled: BundledServer | undefined;
    private readonly crashes = new CrashPolicy();

    constructor(
        private readonly context: vscode.ExtensionContext,
        private readonly output: vscode.LogOutputChannel,
        private readonly status: Status,
        private readonly audience: Audience,
    ) {
        const { extensionPath, globalStorageUri, extension } = context;
        this.bundled = BundledServer.of(extensionPath, globalStorageUri.fsPath, String(extension.packageJSON.version));
    }

    isRunning(): LanguageClient | undefined {
        return this.client?.state === State.Running ? this.client : undefined;
    }

    /** The client, once a start that is under way has ended; if it is not up then, the user is told. */
    async ready(): Promise<LanguageClient | undefined> {
        await this.starting;
        const client = this.isRunning();
        if (client) return client;
        void vscode.window.showWarningMessage('KernelSkill is not running. Its status item says why.');
        return undefined;
    }

    /** Path of the executable that runs, for commands that call it by themselves. Empty when there is none. */
    executable(): string {
        return this.file;
    }

    /** Ends when the server runs, or when the user was told why not. */
    start(): Promise<void> {
        return (this.starting = this.startNow());
    }

    private async startNow(): Promise<void> {
        const start = ++this.starts;
        const isOvertaken = () => start !== this.starts;
        this.status.show({ kind: 'starting' });
        const setting = vscode.workspace.getConfiguration('kernelskill.server');
        const extensionVersion = String(this.context.extension.packageJSON.version);
        const found = findServer({
            setting: setting.get<string>('path', ''),
            pathVariable: process.env['PATH'] ?? '',
            home: homedir(),
            bundled: this.bundled?.executable,
            isExecutable,
        });
        if (found.kind === 'missing') return this.fail(found.problem);

        let version: string;
        try {
            version = await this.versionOf(found);
        } catch (error) {
            return isOvertaken() ? undefined : this.fail(messageOf(error));
        }
        if (isOvertaken()) return;
        this.output.info(`${version} (${found.file}, found through: ${found.origin})`);
        this.file = found.file;
        const difference = versionProblem(version, extensionVersion, found);
        if (difference !== '') void vscode.window.showWarningMessage(`KernelSkill: ${difference}`);

        const client: QuietClient = new QuietClient(
            'kernelskill',
            'KernelSkill',
            { command: found.file, args: ['lsp', ...setting.get<string[]>('arguments', [])] },
            this.options(() => this.client === client),
        );
        this.client = client;
        client.registerFeature(new EditorModel(client, this.context.workspaceState));
        client.registerFeature(new NoticeFeature());
        client.onNotification('kernelskill/programProfiled', (profile: ProgramProfile) => this.audience.program.heard(client, profile));
        client.onDidChangeState(({ newState }) => {
            if (this.client !== client) return;
            if (newState === State.Running) {
                client.isWithoutServer = false;
                this.status.show({
                    kind: 'running',
                    version,
                    file: found.file,
                    isTrusted: vscode.workspace.isTrusted,
                });
                this.audience.started();
            } else if (newState === State.Starting) {
                this.status.show({ kind: 'starting' });
            } else if (newState === State.Stopped) {
                this.status.show({ kind: 'stopped', problem: 'The server stopped. The output says more.' });
            }
        });
        try {
            await client.start();
        } catch (error) {
            if (!isOvertaken()) this.fail(`The server did not start: ${messageOf(error)}`);
        }
    }

    /** Ends the server, also one that is starting. Never fails. */
    async stop(): Promise<void> {
        ++this.starts;
        const client = this.client;
        this.client = undefined;
        await client?.end();
    }

    /** Of several restarts at once, the last one starts the server. */
    async restart(): Promise<void> {
        const stopped = this.stop();
        const { starts } = this;
        await stopped;
        if (starts === this.starts) await this.start();
    }

    /** Settings or trust changed: the server pulls the new ones. */
    async settingsChanged(): Promise<void> {
        if (this.client?.state !== State.Running) return;
        await this.client.sendNotification('workspace/didChangeConfiguration', {
            settings: { kernelskill: this.settings() },
        });
    }

    dispose(): void {
        void this.stop();
    }

    /** The program's own version; the program that comes with the extension is unpacked before. */
    private async versionOf({ file, origin }: Found & { kind: 'found' }): Promise<string> {
        if (origin === 'bundled') await (this.unpacking ??= this.unpack().finally(() => (this.unpacking = undefined)));
        try {
            return (await runFile(file, ['--version'], { timeout: 10_000 })).stdout.trim();
        } catch (error) {
            if (origin === 'bundled') await this.bundled?.discard();
            throw new Error(`${file} --version failed: ${messageOf(error)}`);
        }
    }

    private async unpack(): Promise<void> {
        const { bundled } = this;
        if (!bundled || bundled.isUnpacked()) return;
        const begun = Date.now();
        const options = { location: vscode.ProgressLocation.Notification, title: 'KernelSkill: unpacking the server, once' };
        await vscode.window.withProgress(options, async (progress) => {
            let done = 0;
            await bundled.unpack((part) => {
                const percent = Math.floor(part * 100);
                if (percent > done) progress.report({ increment: percent - done });
                done = percent;
            });
        });
        this.output.info(`unpacked the server in ${Date.now() - begun} ms`);
        await bundled.removeOthers().catch((error: unknown) => this.output.warn(`an older server is left: ${messageOf(error)}`));
    }

    private settings(): Section {
        const section = vscode.workspace.getConfiguration().get<Section>('kernelskill', {});
        return serverSettings(section, vscode.workspace.isTrusted);
    }

    /** `isCurrent` tells whether the client that gets these options has not been stopped. */
    private options(isCurrent: () => boolean): LanguageClientOptions {
        return {
            documentSelector: languages.map((language) => ({ scheme: 'file', language })),
            outputChannel: this.output,
            revealOutputChannelOn: RevealOutputChannelOn.Never,
            initializationOptions: { ...this.settings(), trusted: vscode.workspace.isTrusted },
            // Hovers fold their evidence in <details>. What else they hold is escaped by the server.
            markdown: { isTrusted: false, supportHtml: true },
            middleware: {
                workspace: {
                    handleApplyEdit: async (params, next) => {
                        const client = this.isRunning();
                        const token = new vscode.CancellationTokenSource().token;
                        if (!client || !needsConfirmation(params.edit)) return next(params, token);
                        if (!(await this.audience.preview.confirm(client, params))) return { applied: false, failureReason: 'discarded' };
                        return next({ ...params, edit: confirmed(params.edit) }, token);
                    },
                    // Settings that the server pulls are treated like those that it was started with.
                    configuration: async (params, token, next) => {
                        const values = await next(params, token);
                        if (!Array.isArray(values)) return values;
                        return values.map((value: unknown, index) =>
                            params.items[index]?.section === 'kernelskill'
                                ? serverSettings((value ?? {}) as Section, vscode.workspace.isTrusted)
                                : value,
                        );
                    },
                },
                provideCodeActions: async (document, range, context, token, next) =>
                    (await next(document, range, context, token))?.map(asCommand),
                // An action that became a command has nothing to resolve.
                resolveCodeAction: (item, token, next) => (item.command ? item : next(item, token)),
                // The result of a lens or an action of the server is shown in its view.
                executeCommand: async (command, args, next) => {
                    const target = args[0] as Target | undefined;
                    const client = this.isRunning();
                    if (!client || !target?.uri) return next(command, args);
                    if (command === 'kernelskill.optimize') return this.audience.run.optimize(client, target);
                    if (verifying.has(command)) return this.run(client, command, args);
                    if (command === 'kernelskill.showMemory') return this.audience.memory.show(client, target.uri);
                    const result: unknown = await this.run(client, command, args);
                    if (isProgramProfile(result)) this.audience.program.show(client, result, target.uri);
                    if (command === 'kernelskill.profile' && isProfile(result)) {
                        this.audience.changed(client.protocol2CodeConverter.asUri(target.uri));
                        await this.audience.profile.show(client, target.uri, result.kernel);
                    }
                    return result;
                },
            },
            // Not tried again. start() fails with it, and tells the user once.
            initializationFailedHandler: () => false,
            errorHandler: {
                error: () => ({ action: ErrorAction.Continue }),
                closed: () => this.crashed(isCurrent),
            },
        };
    }

    /** Runs a command of the server for a lens or an action, and reports a failure once. */
    private async run(client: LanguageClient, command: string, args: unknown[]): Promise<unknown> {
        try {
            return await client.sendRequest(ExecuteCommandRequest.type, { command, arguments: args });
        } catch (error) {
            // An action belongs to the text that it was made for, while the lens's command looks for its place again.
            const { version: _, offer: __, ...target } = (args[0] ?? {}) as { version?: number; offer?: unknown };
            void tell(client, error, () => this.run(client, command, [target]));
            return undefined;
        }
    }

    /** The client opens every document again once the server is back. */
    private async crashed(isCurrent: () => boolean): Promise<CloseHandlerResult> {
        const stay: CloseHandlerResult = { action: CloseAction.DoNotRestart, handled: true };
        if (!isCurrent()) return stay;
        const answer = this.crashes.crashed(Date.now());
        if (answer.kind === 'giveUp') {
            this.fail('The server keeps stopping. Its output says why; restart it once that is mended.', 'Show Output');
            return stay;
        }
        if (this.client) this.client.isWithoutServer = true;
        this.status.show({ kind: 'starting' });
        if (answer.tellsUser) {
            const showOutput = 'Show Output';
            void vscode.window
                .showWarningMessage('KernelSkill: the server stopped unexpectedly and is started again.', showOutput)
                .then((choice) => choice === showOutput && this.output.show(true));
        }
        await new Promise((resolve) => setTimeout(resolve, answer.delay));
        return isCurrent() ? { action: CloseAction.Restart, handled: true } : stay;
    }

    private fail(problem: string, remedy: 'Open Settings' | 'Show Output' = 'Open Settings'): void {
        this.output.error(problem);
        this.status.show({ kind: 'stopped', problem });
        void vscode.window.showErrorMessage(`KernelSkill: ${problem}`, remedy).then((choice) => {
            if (choice === 'Show Output') this.output.show(true);
            else if (choice === remedy) {
                void vscode.commands.executeCommand('workbench.action.openSettings', 'kernelskill.server.path');
            }
        });
    }
}

/**
 * An action whose edit has to be checked, as the command that checks it and asks for its application: an edit by resolve
 * would go around the preview, and VS Code does not say whether it was applied.
 */
function asCommand(action: vscode.Command | vscode.CodeAction): vscode.Command | vscode.CodeAction {
    if (!(action instanceof vscode.CodeAction)) return action;
    const { data } = action as { data?: unknown };
    const command = verifyingCommand(data);
    if (command) action.command = { title: action.title, command, arguments: [data] };
    return action;
}

/** The command for the data of an action whose edit has to be checked; undefined for any other action. */
export function verifyingCommand(data: unknown): string | undefined {
    const { type } = (data ?? {}) as { type?: string };
    return type === 'skill' ? applySkill : type === 'generate' ? generate : undefined;
}

function isProfile(value: unknown): value is { readonly kernel: string } {
    return typeof value === 'object' && value !== null && typeof (value as { kernel?: unknown }).kernel === 'string';
}

function isExecutable(file: string): boolean {
    try {
        accessSync(file, constants.X_OK);
        return statSync(file).isFile();
    } catch {
        return false;
    }
}
