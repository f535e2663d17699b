// What went wrong, as one notification: a whole sentence, with what can be done about it as buttons.
import * as vscode from 'vscode';
import { ExecuteCommandRequest, type LanguageClient, LSPErrorCodes, ResponseError } from 'vscode-languageclient/node';

/** A button as the server describes it in the data of an error. */
interface Remedy {
    readonly title: string;
    /** A command of the server, with its arguments. */
    readonly command?: string;
    readonly arguments?: unknown[];
    /** A setting to look at. */
    readonly setting?: string;
    /** What only the editor can do. */
    readonly client?: string;
}

const editorCommands: { readonly [name: string]: string } = {
    trust: 'workbench.trust.manage',
    doctor: 'kernelskill.client.doctor',
};

export function messageOf(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}

/** Makes a sentence: "The folder is not trusted." from "the folder is not trusted". */
export function sentenceOf(text: string): string {
    const trimmed = text.trim();
    return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!?]$/.test(trimmed) ? '' : '.'}`;
}

/** Whether the user or a change of the text ended the request, which is no failure. */
export function isCancelled(error: unknown): boolean {
    return (
        error instanceof vscode.CancellationError ||
        (error instanceof ResponseError && error.code === LSPErrorCodes.RequestCancelled)
    );
}

/**
 * Reports a failed request. `again` repeats it, and is offered if the text has changed meanwhile. A cancelled request is reported
 * in the status bar only.
 */
export async function tell(client: LanguageClient, error: unknown, again?: () => Promise<unknown>): Promise<void> {
    if (isCancelled(error)) {
        vscode.window.setStatusBarMessage('KernelSkill: cancelled', 5000);
        return;
    }
    const isStale = error instanceof ResponseError && error.code === LSPErrorCodes.ContentModified;
    const remedies = [...remediesOf(error), ...(isStale && again ? [{ title: 'Try Again' }] : [])];
    const choice = await vscode.window.showWarningMessage(
        `KernelSkill: ${sentenceOf(messageOf(error))}`,
        ...remedies.map(({ title }) => title),
    );
    const remedy = remedies.find(({ title }) => title === choice);
    if (!remedy) return;
    try {
        if (remedy.command) {
            await client.sendRequest(ExecuteCommandRequest.type, { command: remedy.command, arguments: remedy.arguments ?? [] });
        } else if (remedy.setting) {
            await vscode.commands.executeCommand('workbench.action.openSettings', remedy.setting);
        } else if (remedy.client) {
            await vscode.commands.executeCommand(editorCommands[remedy.client] ?? remedy.client);
        } else await again?.();
    } catch (failure) {
        await tell(client, failure);
    }
}

function remediesOf(error: unknown): Remedy[] {
    const data: unknown = error instanceof ResponseError ? error.data : undefined;
    const { remedies } = (data ?? {}) as { remedies?: unknown };
    if (!Array.isArray(remedies)) return [];
    return remedies.filter((each): each is Remedy => {
        const { title, client } = (each ?? {}) as Partial<Remedy>;
        return typeof title === 'string' && (client === undefined || client in editorCommands);
    });
}
