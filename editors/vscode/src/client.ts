// The language client: starting, stopping, settings, trust.
import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { LanguageClient, State, type LanguageClientOptions } from 'vscode-languageclient/node';

import { findServer } from './binary';
import type { Reports } from './documents';
import { EditorModel } from './editorModel';
import { isProfile, memoryReport, profileReport, type Memory } from './report';
import { serverSettings, type Section } from './settings';
import type { Status } from './status';

const run = promisify(execFile);

export const languages = ['cuda-cpp', 'cuda'];

export class Server implements vscode.Disposable {
    private client: LanguageClient | undefined;
    private file = '';

    constructor(
        private readonly context: vscode.ExtensionContext,
        private readonly output: vscode.LogOutputChannel,
        private readonly status: Status,
        private readonly reports: Reports,
    ) {}

    /** The client when it is up; tells the user and returns undefined when it is not. */
    running(): LanguageClient | undefined {
        if (this.client?.state === State.Running) return this.client;
        void vscode.window.showWarningMessage('KernelSkill is not running. Its status item says why.');
        return undefined;
    }

    /** Path of the executable that runs, for commands that call it by themselves. Empty when there is none. */
    executable(): string {
        return this.file;
    }

    async start(): Promise<void> {
        this.status.show({ kind: 'starting' });
        const setting = vscode.workspace.getConfiguration('kernelskill.server');
        const found = findServer({
            setting: setting.get<string>('path', ''),
            pathVariable: process.env['PATH'] ?? '',
            home: homedir(),
            extensionDirectory: this.context.extensionPath,
            isExecutable,
        });
        if (found.kind === 'missing') return this.fail(found.problem);

        let version: string;
        try {
            version = (await run(found.file, ['--version'], { timeout: 10_000 })).stdout.trim();
        } catch (error) {
            return this.fail(`${found.file} --version failed: ${messageOf(error)}`);
        }
        this.output.info(`${version} (${found.file}, found through: ${found.origin})`);
        this.file = found.file;

        const client = new LanguageClient(
            'kernelskill',
            'KernelSkill',
            { command: found.file, args: ['lsp', ...setting.get<string[]>('arguments', [])] },
            this.options(),
        );
        this.client = client;
        client.registerFeature(new EditorModel(client, this.context.workspaceState));
        client.onDidChangeState(({ newState }) => {
            if (newState === State.Running) {
                this.status.show({
                    kind: 'running',
                    version,
                    file: found.file,
                    isTrusted: vscode.workspace.isTrusted,
                });
            } else if (newState === State.Stopped && this.client === client) {
                this.status.show({ kind: 'stopped', problem: 'The server stopped. The output says more.' });
            }
        });
        try {
            await client.start();
        } catch (error) {
            this.fail(`The server did not start: ${messageOf(error)}`);
        }
    }

    async stop(): Promise<void> {
        const client = this.client;
        this.client = undefined;
        if (client?.needsStop()) await client.stop();
        await client?.dispose();
    }

    async restart(): Promise<void> {
        await this.stop();
        await this.start();
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

    private settings(): Section {
        const section = vscode.workspace.getConfiguration().get<Section>('kernelskill', {});
        return serverSettings(section, vscode.workspace.isTrusted);
    }

    private options(): LanguageClientOptions {
        return {
            documentSelector: languages.map((language) => ({ scheme: 'file', language })),
            outputChannel: this.output,
            initializationOptions: { ...this.settings(), trusted: vscode.workspace.isTrusted },
            middleware: {
                workspace: {
                    // What the server pulls gets the same treatment as what it was started with.
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
                // Code lenses run the server's commands; a result that is meant to be read is shown.
                executeCommand: async (command, args, next) => {
                    const result: unknown = await next(command, args);
                    await this.present(command, result);
                    return result;
                },
            },
        };
    }

    /** Shows the result of a command of the server, if it is one to read. */
    async present(command: string, result: unknown): Promise<void> {
        if (command === 'kernelskill.profile' && isProfile(result)) {
            await this.reports.show(`Profile of ${result.kernel}`, profileReport(result));
        } else if (command === 'kernelskill.showMemory' && typeof result === 'object' && result !== null) {
            await this.reports.show('What was tried', memoryReport(result as Memory));
        }
    }

    private fail(problem: string): void {
        this.output.error(problem);
        this.status.show({ kind: 'stopped', problem });
        const openSettings = 'Open Settings';
        void vscode.window.showErrorMessage(`KernelSkill: ${problem}`, openSettings).then((choice) => {
            if (choice === openSettings) {
                void vscode.commands.executeCommand('workbench.action.openSettings', 'kernelskill.server.path');
            }
        });
    }
}

export function messageOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}

function isExecutable(file: string): boolean {
    try {
        accessSync(file, constants.X_OK);
        return statSync(file).isFile();
    } catch {
        return false;
    }
}
