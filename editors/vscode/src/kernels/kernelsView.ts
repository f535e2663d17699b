// The side panel: every kernel of the workspace with what holds it back.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

import {
    details,
    type Entry,
    filtered,
    type Group,
    grouped,
    type Kernel,
    type Order,
    orders,
    type Severity,
    severityOf,
    summary,
    totalOf,
} from './kernelList';

const maxFiles = 1000;
const orderKey = 'kernelskill.kernels.order';
const isFilteredKey = 'kernelskill.kernels.isFiltered';
const names: { readonly [order in Order]: string } = {
    share: 'Share of the time: largest first',
    headroom: 'Headroom: most first',
    roofline: 'Percent of roofline: lowest first',
    bottleneck: 'Bottleneck',
    name: 'Name',
    file: 'File',
};
const icons: { readonly [severity in Severity]: readonly [icon: string, color: string | undefined, says: string] } = {
    high: ['flame', 'charts.red', 'much to gain'],
    medium: ['warning', 'charts.yellow', 'something to gain'],
    low: ['pass', 'charts.green', 'little to gain'],
    unknown: ['circle-outline', undefined, 'headroom not known'],
};

type Node = Group | Entry;

function isGroup(node: Node): node is Group {
    return 'entries' in node;
}

export class KernelsView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
    private readonly changed = new vscode.EventEmitter<void>();
    readonly onDidChangeTreeData = this.changed.event;
    private readonly view: vscode.TreeView<Node>;
    private readonly subscriptions: vscode.Disposable[];
    private known = new Map<string, readonly Entry[]>();
    private running: Promise<void> = Promise.resolve();
    private generation = 0;
    private words = '';

    /** `client` gives the client while the server is up, else undefined. */
    constructor(
        private readonly memory: vscode.Memento,
        private readonly client: () => LanguageClient | undefined,
    ) {
        this.view = vscode.window.createTreeView('kernelskill.kernels', { treeDataProvider: this, showCollapseAll: true });
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

    getTreeItem(node: Node): vscode.TreeItem {
        return isGroup(node) ? this.itemOfFile(node) : this.itemOfKernel(node);
    }

    getChildren(node?: Node): Node[] {
        if (!node) return grouped(filtered(this.all, this.words), this.order);
        return isGroup(node) ? [...node.entries] : [];
    }

    /** Asks the user for words, and shows the kernels whose name, file or bottleneck contains them; no words show all. */
    async filter(): Promise<void> {
        const words = await vscode.window.showInputBox({
            title: 'Show kernels with these words',
            placeHolder: 'In the name, the file or the bottleneck; empty: all',
            value: this.words,
        });
        if (words !== undefined) this.showOnly(words);
    }

    showAll(): void {
        this.showOnly('');
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
            this.say();
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

    private itemOfFile({ uri, file, entries }: Group): vscode.TreeItem {
        const item = new vscode.TreeItem(vscode.Uri.parse(uri), vscode.TreeItemCollapsibleState.Expanded);
        item.id = uri;
        item.label = path.basename(file);
        const folder = path.dirname(file);
        const count = entries.length === 1 ? '1 kernel' : `${entries.length} kernels`;
        item.description = folder === '.' ? count : `${folder} · ${count}`;
        item.tooltip = file;
        item.iconPath = vscode.ThemeIcon.File;
        item.contextValue = 'file';
        item.accessibilityInformation = { label: `${file}, ${count}` };
        return item;
    }

    private itemOfKernel({ kernel, uri }: Entry): vscode.TreeItem {
        const text = summary(kernel, totalOf(this.all));
        const [icon, color, says] = icons[severityOf(kernel)];
        const item = new vscode.TreeItem(kernel.name);
        item.id = `${uri}#${kernel.name}`;
        item.description = text;
        item.tooltip = new vscode.MarkdownString().appendText([kernel.name, ...details(kernel)].join('\n\n'));
        item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
        item.contextValue = 'kernel';
        item.accessibilityInformation = { label: `${kernel.name}, ${text}, ${says}` };
        const { start } = kernel.selectionRange;
        const selection = new vscode.Range(start.line, start.character, start.line, start.character);
        item.command = {
            command: 'vscode.open',
            title: 'Open',
            arguments: [vscode.Uri.parse(uri), { selection } satisfies vscode.TextDocumentShowOptions],
        };
        return item;
    }

    private showOnly(words: string): void {
        this.words = words.trim();
        this.view.description = this.words === '' ? '' : `with "${this.words}"`;
        void vscode.commands.executeCommand('setContext', isFilteredKey, this.words !== '');
        this.say();
        this.changed.fire();
    }

    /** The message of an empty tree. */
    private say(): void {
        const isFiltered = this.all.length > 0 && filtered(this.all, this.words).length === 0;
        this.view.message =
            this.all.length === 0 ? 'No kernel found in this workspace.' : isFiltered ? `No kernel with "${this.words}".` : '';
    }

    private get all(): readonly Entry[] {
        return [...this.known.values()].flat();
    }

    private get order(): Order {
        const kept = this.memory.get<string>(orderKey, 'share');
        return orders.find((order) => order === kept) ?? 'share';
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
