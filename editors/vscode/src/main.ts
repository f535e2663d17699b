// The parts of the extension, and who is told of what.
import * as vscode from 'vscode';

import { Server } from './client';
import { commandsOf } from './commands';
import { Reports } from './documents';
import type { CommandName } from './manifest';
import type { Status } from './status';

export interface Main {
    run(command: CommandName, values: readonly unknown[]): unknown;
    stop(): Promise<void>;
}

export function start(
    context: vscode.ExtensionContext,
    output: vscode.LogOutputChannel,
    status: Status,
): Main {
    const reports = new Reports();
    const server = new Server(context, output, status, reports);
    const commands = commandsOf(server, output);
    context.subscriptions.push(
        reports,
        server,
        vscode.workspace.onDidChangeConfiguration(async (event) => {
            if (event.affectsConfiguration('kernelskill.server')) await server.restart();
            else if (event.affectsConfiguration('kernelskill')) await server.settingsChanged();
        }),
        // Executables and flags of an untrusted workspace were withheld until now.
        vscode.workspace.onDidGrantWorkspaceTrust(() => server.restart()),
    );
    void server.start();
    return { run: (command, values) => commands[command](...values), stop: () => server.stop() };
}
