// An edit that the server wants confirmed: shown beside the text, then applied as a whole or not at all.
import * as vscode from 'vscode';
import type { ApplyWorkspaceEditParams, LanguageClient, TextEdit, WorkspaceEdit } from 'vscode-languageclient/node';

import type { VirtualDocuments } from '../virtualDocuments';

const apply = 'Apply';
const discard = 'Discard';

interface Change {
    readonly uri: vscode.Uri;
    readonly edits: readonly TextEdit[];
}

export class EditPreview {
    private count = 0;
    /** Who waits for an answer, by the proposed text that is shown. */
    private readonly questions = new Map<string, (isAccepted: boolean) => void>();

    constructor(private readonly documents: VirtualDocuments) {}

    /** Shows what the edit does; true once the user applies it, false once they discard it or close what is shown. */
    async confirm(client: LanguageClient, { label, edit }: ApplyWorkspaceEditParams): Promise<boolean> {
        const number = ++this.count;
        const sides = await Promise.all(
            changesOf(client, edit).map(async ({ uri, edits }) => {
                const document = await vscode.workspace.openTextDocument(uri);
                const text = textAfter(document, await client.protocol2CodeConverter.asTextEdits([...edits]));
                const name = vscode.workspace.asRelativePath(uri);
                return { uri, proposed: this.documents.put(`preview/${number}/${name}`, text) };
            }),
        );
        if (sides.length === 0) return true;
        const title = label ?? 'KernelSkill';
        const options = { viewColumn: vscode.ViewColumn.One, preview: false };
        for (const { uri, proposed } of sides) {
            await vscode.commands.executeCommand('vscode.diff', uri, proposed, title, options);
        }
        const shown = sides.map(({ proposed }) => proposed.toString());
        const isAccepted = await this.answer(shown, `KernelSkill: ${[title, descriptionOf(edit)].filter(Boolean).join(': ')}`);
        await vscode.window.tabGroups.close(tabsOf(shown));
        return isAccepted;
    }

    /** The button in the title of the editor that shows the proposed text. */
    answerFor(uri: unknown, isAccepted: boolean): void {
        if (uri instanceof vscode.Uri) this.questions.get(uri.toString())?.(isAccepted);
    }

    private async answer(shown: readonly string[], question: string): Promise<boolean> {
        let closed: vscode.Disposable | undefined;
        let isAsking = true;
        const answered = new Promise<boolean>((resolve) => {
            for (const each of shown) this.questions.set(each, resolve);
            closed = vscode.window.tabGroups.onDidChangeTabs(() => {
                if (tabsOf(shown).length === 0) resolve(false);
            });
            // A notification that goes away by itself, or is closed, is no answer: the buttons over the text are there.
            void vscode.window.showInformationMessage(question, apply, discard).then((choice) => {
                isAsking = false;
                if (choice) resolve(choice === apply);
            });
        });
        try {
            return await answered;
        } finally {
            closed?.dispose();
            for (const each of shown) this.questions.delete(each);
            // VS Code has no other way to take a question back that was answered elsewhere.
            if (isAsking) await vscode.commands.executeCommand('notifications.hideToasts');
        }
    }
}

/** Does the server want the user to be asked? */
export function needsConfirmation(edit: WorkspaceEdit): boolean {
    return Object.values(edit.changeAnnotations ?? {}).some((annotation) => annotation.needsConfirmation);
}

/** The edit without its questions, which VS Code would ask once more for each of its parts. */
export function confirmed(edit: WorkspaceEdit): WorkspaceEdit {
    const answered = Object.entries(edit.changeAnnotations ?? {}).map(([id, annotation]) => [id, { ...annotation, needsConfirmation: false }]);
    return { ...edit, changeAnnotations: Object.fromEntries(answered) };
}

function descriptionOf(edit: WorkspaceEdit): string {
    return Object.values(edit.changeAnnotations ?? {}).map(({ description }) => description ?? '').join(' ');
}

function changesOf(client: LanguageClient, edit: WorkspaceEdit): Change[] {
    const { asUri } = client.protocol2CodeConverter;
    const versioned = (edit.documentChanges ?? []).flatMap((change) =>
        'edits' in change ? [{ uri: asUri(change.textDocument.uri), edits: change.edits as TextEdit[] }] : [],
    );
    const plain = Object.entries(edit.changes ?? {}).map(([uri, edits]) => ({ uri: asUri(uri), edits }));
    return [...versioned, ...plain];
}

/** What the document will read like. */
export function textAfter(document: vscode.TextDocument, edits: readonly vscode.TextEdit[]): string {
    let text = document.getText();
    const fromTheEnd = [...edits].sort((a, b) => b.range.start.compareTo(a.range.start));
    for (const { range, newText } of fromTheEnd) {
        text = text.slice(0, document.offsetAt(range.start)) + newText + text.slice(document.offsetAt(range.end));
    }
    return text;
}

function tabsOf(shown: readonly string[]): vscode.Tab[] {
    const isShown = ({ input }: vscode.Tab) =>
        input instanceof vscode.TabInputTextDiff && shown.includes(input.modified.toString());
    return vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.filter(isShown));
}
