// The parts of the extension, and who is told of what.
import * as vscode from 'vscode';

import { Server } from './client';
import { commandsOf } from './commands';
import { KernelsView } from './kernels/kernelsView';
import type { CommandName } from './manifest';
import type { Status } from './status';
import { AssemblyView } from './views/assemblyView';
import { EditPreview } from './views/editPreview';
import { MemoryView } from './views/memoryView';
import { ModelView } from './views/modelView';
import { Panels } from './views/panel';
import { ProfileView } from './views/profileView';
import { ProgramView } from './views/programView';
import { RunView } from './views/runView';
import { VirtualDocuments } from './virtualDocuments';

export interface Main {
    run(command: CommandName, values: readonly unknown[]): unknown;
    stop(): Promise<void>;
}

export function start(
    context: vscode.ExtensionContext,
    output: vscode.LogOutputChannel,
    status: Status,
): Main {
    const documents = new VirtualDocuments();
    const panels = new Panels(context.extensionUri);
    const profile = new ProfileView(panels);
    const program = new ProgramView(panels, (files) => kernels.filesChanged(files));
    const run = new RunView(panels);
    const memory = new MemoryView(panels, documents);
    const preview = new EditPreview(documents);
    const assembly = new AssemblyView(panels);
    const server: Server = new Server(context, output, status, {
        profile,
        run,
        memory,
        preview,
        program,
        changed: (uri) => kernels.filesChanged([uri]),
        started: () => kernels.refresh(),
    });
    const kernels = new KernelsView(context.workspaceState, () => server.isRunning());
    const commands = commandsOf(
        server,
        {
            profile,
            run,
            memory,
            preview,
            program,
            kernels,
            assembly,
            model: new ModelView(panels),
        },
        output,
    );
    context.subscriptions.push(
        documents,
        panels,
        assembly,
        kernels,
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
