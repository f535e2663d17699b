// The profile of the user's program: where its time on the GPU goes.
import * as vscode from 'vscode';
import { ExecuteCommandRequest, type LanguageClient } from 'vscode-languageclient/node';

import { tell } from '../failures';
import { withProgress } from '../progress';
import type { Request } from '../webview/state';
import type { Panels } from './panel';
import { type ProgramProfile, programState } from './programModel';
import { revealLine } from './reveal';

const panelName = 'program';
const messageTime = 15_000; // ms in the status bar

export class ProgramView {
    /** `profiled` hears of files whose kernels were profiled. */
    constructor(
        private readonly panels: Panels,
        private readonly profiled: (files: readonly vscode.Uri[]) => void,
    ) {}

    /** Builds and runs the program that was picked, or the one that is named, and shows what it spent its time on. */
    async profile(client: LanguageClient, argument: { readonly uri?: string | undefined; readonly name?: string }): Promise<void> {
        const profile = await withProgress('profiling the program', (token) =>
            client.sendRequest(ExecuteCommandRequest.type, { command: 'kernelskill.profileProgram', arguments: [argument] }, token),
        );
        this.show(client, profile as ProgramProfile, argument.uri);
        this.tell(client, profile as ProgramProfile);
    }

    /** `uri`: a file of the program's workspace; without one it is the first folder's. */
    show(client: LanguageClient, profile: ProgramProfile, uri: string | undefined): void {
        const panel = this.panels.panel(panelName, `Profile of ${profile.name}`, async (request: Request) => {
            try {
                if (request.ask === 'kernel') await reveal(client, profile, request.index);
                if (request.ask === 'profileAgain') await this.profile(client, { uri, name: profile.name });
            } catch (error) {
                void tell(client, error);
            }
        });
        panel.show(programState(profile));
    }

    /** The program was profiled since a file of it was saved. A view that is not open stays closed. */
    heard(client: LanguageClient, profile: ProgramProfile): void {
        vscode.window.setStatusBarMessage(`KernelSkill: ${profile.summary}`, messageTime);
        this.tell(client, profile);
        if (this.panels.isOpen(panelName)) this.show(client, profile, profile.kernels.find(({ uri }) => uri !== null)?.uri ?? undefined);
    }

    private tell(client: LanguageClient, { kernels }: ProgramProfile): void {
        const files = new Set(kernels.flatMap(({ uri }) => (uri === null ? [] : [uri])));
        this.profiled([...files].map((uri) => client.protocol2CodeConverter.asUri(uri)));
    }
}

async function reveal(client: LanguageClient, profile: ProgramProfile, index: number): Promise<void> {
    const kernel = profile.kernels[index];
    if (kernel?.uri && kernel.line !== null) await revealLine(client.protocol2CodeConverter.asUri(kernel.uri), kernel.line);
}
