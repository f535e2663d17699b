// The status item: is the server well, and what can be done about it.
import * as vscode from 'vscode';

export type Health =
    | { readonly kind: 'starting' }
    | { readonly kind: 'running'; readonly version: string; readonly file: string; readonly isTrusted: boolean }
    | { readonly kind: 'stopped'; readonly problem: string };

export class Status implements vscode.Disposable {
    private readonly item = vscode.window.createStatusBarItem('kernelskill.status', vscode.StatusBarAlignment.Left);
    private readonly subscription: vscode.Disposable;
    private opened: 'once' | 'again' | undefined;

    constructor() {
        this.item.name = 'KernelSkill';
        this.item.command = 'kernelskill.client.menu';
        this.show({ kind: 'starting' });
        this.subscription = vscode.window.onDidChangeActiveTextEditor(() => this.followEditor());
        this.followEditor();
    }

    show(health: Health): void {
        const tooltip = new vscode.MarkdownString('', true);
        tooltip.isTrusted = {
            enabledCommands: [
                'kernelskill.client.restart',
                'kernelskill.client.showOutput',
                'kernelskill.client.doctor',
                'workbench.trust.manage',
            ],
        };
        this.item.backgroundColor = undefined;
        switch (health.kind) {
            case 'starting':
                this.item.text = '$(loading~spin) KernelSkill';
                tooltip.appendMarkdown('Starting');
                break;
            case 'running':
                this.item.text = health.isTrusted ? 'KernelSkill' : '$(shield) KernelSkill';
                tooltip.appendMarkdown(`${health.version}\n\n\`${health.file}\``);
                if (!health.isTrusted) {
                    tooltip.appendMarkdown(
                        '\n\nThis workspace is not trusted: kernels are read, never compiled or run. ' +
                            '[Manage trust](command:workbench.trust.manage)',
                    );
                }
                break;
            case 'stopped':
                this.item.text = '$(error) KernelSkill';
                this.item.backgroundColor = new vscode.ThemeColor('statusBarItem.errorBackground');
                tooltip.appendText(health.problem);
                break;
        }
        tooltip.appendMarkdown(
            '\n\n---\n\n[Restart](command:kernelskill.client.restart) · ' +
                '[Output](command:kernelskill.client.showOutput) · [Doctor](command:kernelskill.client.doctor)',
        );
        this.item.tooltip = tooltip;
    }

    dispose(): void {
        this.subscription.dispose();
        this.item.dispose();
    }

    /** Shown while a CUDA file is; out of the way otherwise. */
    private followEditor(): void {
        const language = vscode.window.activeTextEditor?.document.languageId;
        if (language !== 'cuda-cpp' && language !== 'cuda') return this.item.hide();
        this.item.show();
        // Ticks off the walkthrough's first step. VS Code never ticks for a condition that holds when it reads the walkthrough,
        // which may be long after this extension was started. So the context takes another value each time, and the step has
        // a condition for each: at most one of them holds at that moment.
        this.opened = this.opened === 'once' ? 'again' : 'once';
        void vscode.commands.executeCommand('setContext', 'kernelskill.fileOpened', this.opened);
    }
}
