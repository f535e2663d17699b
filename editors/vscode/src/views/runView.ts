// An optimisation from its start to the choice of a candidate.
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import {
    ExecuteCommandRequest,
    type LanguageClient,
    WorkDoneProgress,
    WorkDoneProgressCancelNotification,
} from 'vscode-languageclient/node';

import { isCancelled, messageOf, sentenceOf, tell } from '../failures';
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
    private readonly running = new Set<Run>();

    constructor(private readonly panels: Panels) {}

    /** Shows the run; the server proposes its best in a preview, and the view has all the others. */
    async optimize(client: LanguageClient, target: Target): Promise<Optimization | undefined> {
        const run = new Run(client, this.panels, target);
        this.running.add(run);
        try {
            return await run.run();
        } finally {
            this.running.delete(run);
        }
    }

    get isRunning(): boolean {
        return this.running.size > 0;
    }

    /** Ends every search that runs. */
    cancel(): void {
        for (const run of this.running) run.cancel();
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
    private isCancelled = false;

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
        // The view has the only button that cancels; the status item's menu has it once the view is closed.
        const options = { location: vscode.ProgressLocation.Window, title: 'KernelSkill: optimizing' };
        let end!: () => void;
        const ended = new Promise<void>((resolve) => (end = resolve));
        const subscription = this.client.onProgress(WorkDoneProgress.type, this.token, (value) => {
            if (value.kind === 'end') {
                end();
                if (!this.isCancelled) this.show({ phase: 'proposed', message: proposal });
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
        await vscode.window.withProgress(options, (progress) => {
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
                message: found.stop.reason === 'cancelled' ? `Cancelled. ${ending(found)}` : ending(found),
                candidates: candidatesOf(found, this.text),
                hasReport: found.report !== undefined,
            });
        } catch (error) {
            if (isCancelled(error)) this.show({ phase: 'cancelled', message: 'Cancelled before anything was tried.' });
            else {
                this.show({ phase: 'failed', message: sentenceOf(messageOf(error)) });
                void tell(this.client, error);
            }
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

    cancel(): void {
        if (this.state.phase !== 'running') return;
        this.isCancelled = true;
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
        if (!(await vscode.workspace.applyEdit(edit))) return;
        await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
        const candidate = this.state.candidates.find((each) => each.number === number);
        void tellTaken(document, `${candidate?.skill}: applied, ${candidate?.status || 'not reviewed'}: ${candidate?.decision}`);
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
    return `${tried}. ${best} ${sentenceOf(found.stop.text)}`;
}

/** Tells what was applied, with a button that takes it back as long as nothing else has changed. */
async function tellTaken(document: vscode.TextDocument, text: string): Promise<void> {
    const { version } = document;
    const undo = 'Undo';
    if ((await vscode.window.showInformationMessage(sentenceOf(text), undo)) !== undo) return;
    if (document.version !== version) {
        void vscode.window.showWarningMessage('KernelSkill: the text has changed since; use the editor’s own undo.');
        return;
    }
    await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    await vscode.commands.executeCommand('undo');
}
