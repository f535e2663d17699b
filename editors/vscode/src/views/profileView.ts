// The server's report: roofline, lines with their bars, metrics with what they mean.
import type { LanguageClient } from 'vscode-languageclient/node';

import { withProgress } from '../progress';
import type { Panels } from './panel';
import { revealLine } from './reveal';

export class ProfileView {
    constructor(private readonly panels: Panels) {}

    /** Shows the profile of one kernel, or of all: kernels without a profile are run then. */
    async show(client: LanguageClient, uri: string, kernel?: string): Promise<void> {
        const { title, html } = await withProgress('writing a report', (token) =>
            client.sendRequest<{ title: string; html: string }>(
                'kernelskill/report',
                { textDocument: { uri }, ...(kernel === undefined ? {} : { kernel }) },
                token,
            ),
        );
        const resource = client.protocol2CodeConverter.asUri(uri);
        const panel = this.panels.panel('profile', kernel === undefined ? title : `Profile of ${kernel}`, async (request) => {
            if (request.ask === 'reveal') await revealLine(resource, request.line);
        });
        panel.showReport(html);
    }
}
