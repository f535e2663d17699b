import * as vscode from 'vscode';

import { Server } from './client';
import { registerCommands } from './commands';
import { Reports } from './documents';
import { Status } from './status';

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
    const output = vscode.window.createOutputChannel('KernelSkill', { log: true });
    const status = new Status();
    const reports = new Reports();
    server = new Server(context, output, status, reports);
    context.subscriptions.push(
        output,
        status,
        reports,
        server,
        ...registerCommands(server, output),
        vscode.workspace.onDidChangeConfiguration(async (event) => {
            if (event.affectsConfiguration('kernelskill.server')) await server?.restart();
            else if (event.affectsConfiguration('kernelskill')) await server?.settingsChanged();
        }),
        // Executables and flags of an untrusted workspace were withheld until now.
        vscode.workspace.onDidGrantWorkspaceTrust(() => server?.restart()),
    );
    await server.start();
}

export async function deactivate(): Promise<void> {
    await server?.stop();
}
