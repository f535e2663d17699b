// The part that must be there at once. The rest, the language client above all, is loaded after the editor has gone on.
import * as vscode from 'vscode';

import type { Main } from './main';
import { commandNames } from './manifest';
import { Status } from './status';

let main: Promise<Main> | undefined;

export function activate(context: vscode.ExtensionContext): void {
    const output = vscode.window.createOutputChannel('KernelSkill', { log: true });
    const status = new Status();
    const loaded = new Promise((resolve) => setImmediate(resolve))
        .then(() => import('./main.js'))
        .then(({ start }) => start(context, output, status));
    main = loaded;
    context.subscriptions.push(
        output,
        status,
        ...commandNames.map((name) =>
            vscode.commands.registerCommand(`kernelskill.client.${name}`, async (...values: unknown[]) =>
                (await loaded).run(name, values),
            ),
        ),
    );
}

export async function deactivate(): Promise<void> {
    await (await main)?.stop();
}
