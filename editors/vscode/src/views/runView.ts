// An optimisation from its start to the choice of a candidate.
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import {
    ExecuteCommandRequest,
    type LanguageClient,
    WorkDoneProgress,
    WorkDoneProgressCancelNotification,
} from 'vscode-languageclient/node';

import type { Request, RunState } from '../webview/state';
import { attemptsOf } from './attempts';
import { candidatesOf, type Optimization, textOf } from './candidates';
import { readMemory } from './memoryView';
import type { Panel, Panels } from './panel';

/** Shown from the end of the search to the user's answer. */
const proposal = 'If something better was found, it is in the preview: apply it, or discard it and choose here.';

export interface Target {
    readonly uri: string;
    readonly kernel?: string;
    readonly line?: number;
}

export class RunView {
    constructor(private readonly panels: Panels) {}

    /** Shows the run; the server proposes its best in a preview, and the view has all the others. */
    async optimize(client: LanguageClient, target: Target): Promise<Optimization | undefined> {
        return new Run(client, this.panels, target).run();
    }
}

class Run {
    private readonly token = randomUUID();
    private readonly begun = new Date().toISOString();
    private readonly document: Thenable<vscode.TextDocument>;
    private readonly panel: Panel;
    private readonly message = new vscode.EventEmitter<string>();
    private state: RunState;
    private text = '';
    private found: Optimization | undefined;
    private isReading = false;
    private isStale = false;

    constructor(
        private readonly client: LanguageClient,
        private readonly panels: Panels,
        private readonly target: Target,
    ) {
        const resource = client.protocol2CodeConverter.asUri(target.uri);
        this.document = vscode.workspace.openTextDocument(resource);
        this.panel = panels.panel('run', 'Optimize', (request) => this.answer(request));
        this.state = {
            view: 'run',
            kernel: target.kernel ?? 'kernel',
            file: vscode.workspace.asRelativePath(resource),
            phase: 'running',
            message: 'Starting',
            attempts: [],
            candidates: [],
            hasReport: false,
        };
    }

    async run(): Promise<Optimization | undefined> {
        this.text = (await this.document).getText();
        this.show({});
        const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: 'KernelSkill: optimizing' };
        let end!: () => void;
        const ended = new Promise<void>((resolve) => (end = resolve));
        const subscription = this.client.onProgress(WorkDoneProgress.type, this.token, (value) => {
            if (value.kind === 'end') {
                end();
                this.show({ phase: 'proposed', message: proposal });
            } else if (value.message) {
                this.message.fire(value.message);
                this.show({ message: value.message, percent: value.percentage });
            }
            void this.readAttempts();
        });
        const answered = this.ask().finally(() => {
            subscription.dispose();
            this.message.dispose();
        });
        // The search's end is not the answer: that waits for the user, who reads the preview.
        await vscode.window.withProgress(options, (progress, cancelled) => {
            cancelled.onCancellationRequested(() => this.cancel());
            this.message.event((message) => progress.report({ message }));
            return Promise.race([ended, answered]);
        });
        await answered;
        return this.found;
    }

    private async ask(): Promise<void> {
        try {
            const found: Optimization = await this.client.sendRequest(ExecuteCommandRequest.type, {
                command: 'kernelskill.optimize',
                arguments: [{ ...this.target, report: true }],
                workDoneToken: this.token,
            });
            this.found = found;
            this.show({
                kernel: found.kernel,
                phase: found.stop.reason === 'cancelled' ? 'cancelled' : 'done',
                message: ending(found),
                candidates: candidatesOf(found, this.text),
                hasReport: found.report !== undefined,
            });
        } catch (error) {
            this.show({ phase: 'failed', message: error instanceof Error ? error.message : String(error) });
        }
    }

    /** The server remembers each attempt as it goes: what it has decided since the start is shown. */
    private async readAttempts(): Promise<void> {
        this.isStale = true;
        if (this.isReading) return;
        this.isReading = true;
        try {
            while (this.isStale) {
                this.isStale = false;
                const { entries } = await readMemory(this.client, this.target.uri);
                this.show({ attempts: attemptsOf(entries.filter(({ time }) => time >= this.begun)) });
            }
        } catch {
            // The run goes on without; its result tells all.
        } finally {
            this.isReading = false;
        }
    }

    private answer(request: Request): Thenable<unknown> | void {
        if (request.ask === 'cancel') return this.cancel();
        if (request.ask === 'take') return this.take(request.number);
        if (request.ask === 'report' && this.found?.report) {
            const { title, html } = this.found.report;
            this.panels.panel('optimization', title, () => undefined).showReport(html);
        }
    }

    private cancel(): void {
        if (this.state.phase !== 'running') return;
        this.show({ message: 'Cancelling' });
        void this.client.sendNotification(WorkDoneProgressCancelNotification.type, { token: this.token });
    }

    private async take(number: number): Promise<void> {
        const document = await this.document;
        const text = this.found && textOf(this.found, number, this.text);
        if (text === undefined) return;
        if (document.getText() !== this.text) {
            void vscode.window.showWarningMessage(
                'KernelSkill: the file is not what it was when the search began; undo your changes, or optimize again.',
            );
            return;
        }
        const edit = new vscode.WorkspaceEdit();
        edit.replace(document.uri, ...difference(document, text));
        await vscode.workspace.applyEdit(edit);
        await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    }

    private show(change: Partial<RunState>): void {
        if (this.panel.isDisposed) return;
        this.state = { ...this.state, ...change };
        this.panel.show(this.state);
    }
}

/** The replacement that makes the document read like this: all between the common begin and the common end. */
function difference(document: vscode.TextDocument, text: string): [vscode.Range, string] {
    const before = document.getText();
    const shorter = Math.min(before.length, text.length);
    let start = 0;
    while (start < shorter && before[start] === text[start]) ++start;
    let end = 0;
    while (end < shorter - start && before.at(-1 - end) === text.at(-1 - end)) ++end;
    const range = new vscode.Range(document.positionAt(start), document.positionAt(before.length - end));
    return [range, text.slice(start, text.length - end)];
}

function ending(found: Optimization): string {
    const tried = found.rounds.length === 1 ? '1 candidate' : `${found.rounds.length} candidates`;
    const best = found.best.improved ? `The best: ${found.best.skills.join(', ')}.` : 'Nothing is better than the original.';
    return `${tried}. ${best} ${sentence(found.stop.text)}`;
}

function sentence(text: string): string {
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
