import * as vscode from 'vscode';

/** A notification that can be cancelled, for as long as the work takes. */
export function withProgress<T>(title: string, work: (token: vscode.CancellationToken) => Promise<T>): Thenable<T> {
    const location = vscode.ProgressLocation.Notification;
    return vscode.window.withProgress({ location, title: `KernelSkill: ${title}`, cancellable: true }, (_, token) =>
        work(token),
    );
}
