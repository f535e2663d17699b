// The side panel: every kernel of the workspace with what holds it back.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

import { details, type Entry, type Kernel, type Order, orders, sorted, summary } from './kernelList';

const maxFiles = 1000;
const orderKey = 'kernelskill.kernels.order';
const names: { readonly [order in Order]: string } = {
    time: 'Time: longest first',
    roofline: 'Percent of roofline: lowest first',
    bottleneck: 'Bottleneck',
    name: 'Name',
    file: 'File',
};

export class KernelsView implements vscode.TreeDataProvider<Entry>, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<void>();
    readonly onDidChangeTreeData = this.changed.event;
    private readonly view: vscode.TreeView<Entry>;
    private readonly subscriptions: vscode.Disposable[];
    private known = new Map<string, readonly Entry[]>();
    private running: Promise<void> = Promise.resolve();
    private generation = 0;

    /** `client` gives the client while the server is up, else undefined. */
    constructor(
        private readonly memory: vscode.Memento,
        private readonly client: () => LanguageClient | undefined,
    ) {
        this.view = vscode.window.createTreeView('kernelskill.kernels', { treeDataProvider: this });
        const watcher = vscode.workspace.createFileSystemWatcher('**/*.{cu,cuh}');
        const readAgain = (uri: vscode.Uri) => this.filesChanged([uri]);
        this.subscriptions = [
            this.view,
            this.changed,
            watcher,
            watcher.onDidCreate(readAgain),
            watcher.onDidChange(readAgain),
            watcher.onDidDelete(readAgain),
            this.view.onDidChangeVisibility(({ visible }) => visible && this.known.size === 0 && this.refresh()),
        ];
    }

    getTreeItem({ kernel, file, uri }: Entry): vscode.TreeItem {
        const item = new vscode.TreeItem(kernel.name);
        item.description = `${summary(kernel)} · ${file}`;
        item.tooltip = new vscode.MarkdownString().appendText([kernel.name, ...details(kernel)].join('\n\n'));
        item.iconPath = new vscode.ThemeIcon(kernel.measured ? 'dashboard' : 'pulse');
        item.contextValue = 'kernel';
        item.accessibilityInformation = { label: `${kernel.name}, ${summary(kernel)}, in ${file}` };
        const { start } = kernel.selectionRange;
        const selection = new vscode.Range(start.line, start.character, start.line, start.character);
        item.command = {
            command: 'vscode.open',
            title: 'Open',
            arguments: [vscode.Uri.parse(uri), { selection } satisfies vscode.TextDocumentShowOptions],
        };
        return item;
    }

    getChildren(entry?: Entry): Entry[] {
        return entry ? [] : sorted([...this.known.values()].flat(), this.order);
    }

    /** Reads every file of the workspace again if the view is visible. */
    refresh(): void {
        ++this.generation;
        this.known = new Map();
        if (!this.view.visible) return;
        this.running = this.running.then(async () => {
            const generation = this.generation;
            const files = await vscode.workspace.findFiles('**/*.{cu,cuh}', undefined, maxFiles);
            await this.read(files, () => generation === this.generation);
            this.view.message = files.length > 0 && this.known.size > 0 ? '' : 'No kernel found in this workspace.';
        });
    }

    filesChanged(files: readonly vscode.Uri[]): void {
        if (this.view.visible) this.running = this.running.then(() => this.read(files, () => true));
        else this.known.clear(); // read once the view is visible
    }

    async sort(): Promise<void> {
        const items = orders.map((order) => ({ label: names[order], description: order === this.order ? 'now' : '', order }));
        const choice = await vscode.window.showQuickPick(items, { title: 'Sort kernels by' });
        if (!choice) return;
        await this.memory.update(orderKey, choice.order);
        this.changed.fire();
    }

    dispose(): void {
        for (const subscription of this.subscriptions) subscription.dispose();
    }

    private get order(): Order {
        return this.memory.get<Order>(orderKey, 'time');
    }

    /** One file after the other: the server has better things to do. */
    private async read(files: readonly vscode.Uri[], isWanted: () => boolean): Promise<void> {
        for (const uri of files) {
            const client = this.client();
            if (!client || !isWanted()) return;
            const address = client.code2ProtocolConverter.asUri(uri);
            const kernels = await client
                .sendRequest<readonly Kernel[]>('kernelskill/kernels', { textDocument: { uri: address } })
                .catch(() => [] as Kernel[]); // unreadable: the file's own diagnostics say why
            const file = path.normalize(vscode.workspace.asRelativePath(uri));
            if (!isWanted()) return;
            if (kernels.length > 0) this.known.set(address, kernels.map((kernel) => ({ uri: address, file, kernel })));
            else this.known.delete(address);
            this.changed.fire();
        }
    }
}
