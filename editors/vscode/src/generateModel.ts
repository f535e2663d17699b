// Generates a folder of CUDA kernels from a PyTorch program that torch.export.save wrote.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { ExecuteCommandRequest, type LanguageClient } from 'vscode-languageclient/node';

import { withProgress } from './progress';
import type { ModelView } from './views/modelView';

/** The server's answer to kernelskill.generateModel, as far as it is shown. */
interface GeneratedModel {
    readonly folder: string;
    readonly report: string;
    readonly check: { readonly outcome: 'agrees' | 'differs' | 'not-compared'; readonly why: string; readonly kernels: number };
}

const precisions: readonly (vscode.QuickPickItem & { readonly precision: string })[] = [
    { label: 'float32', precision: 'float32', detail: 'By the cores for float' },
    { label: 'Split TF32', precision: 'tf32x3', detail: 'Products on tensor cores, nearly as exact as float32' },
    { label: 'Split bfloat16', precision: 'bf16x3', detail: 'Products on tensor cores, factors rounded to 16 bits' },
    { label: 'TF32', precision: 'tf32', detail: 'Products on tensor cores, factors rounded to 10 bits' },
];

/** `archive`: the file that was chosen in the explorer; without one, the user is asked for it. */
export async function generateModel(client: LanguageClient, archive: unknown, view: ModelView): Promise<void> {
    const file = archive instanceof vscode.Uri ? archive : await chosenArchive();
    if (!file) return;
    const precision = await vscode.window.showQuickPick(precisions, {
        title: 'Generate CUDA from PyTorch program',
        placeHolder: 'What products are computed in',
    });
    if (!precision) return;
    const folder = await vscode.window.showInputBox({
        title: 'Generate CUDA from PyTorch program',
        prompt: 'The folder for the kernels: a new one, an empty one, or an earlier one of this command',
        value: path.join(path.dirname(file.fsPath), path.basename(file.fsPath, '.pt2')),
        validateInput: (value) => (path.isAbsolute(value) ? undefined : 'The path has to be absolute'),
    });
    if (!folder) return;
    const argument = { uri: file.toString(), folder: vscode.Uri.file(folder).toString(), precision: precision.precision };
    const model = await withProgress('generating kernels', (token) =>
        client.sendRequest<GeneratedModel>(
            ExecuteCommandRequest.method,
            { command: 'kernelskill.generateModel', arguments: [argument] },
            token,
        ),
    );
    await view.show(`Model ${path.basename(file.fsPath)}`, vscode.Uri.parse(model.report));
    const { check } = model;
    void vscode.window.showInformationMessage(
        check.outcome === 'agrees'
            ? `KernelSkill: ${folder}: ${String(check.kernels)} kernels agree with LibTorch on the emulator.`
            : `KernelSkill: ${folder}: the kernels were not checked: ${check.why}.`,
    );
}

async function chosenArchive(): Promise<vscode.Uri | undefined> {
    const files = await vscode.window.showOpenDialog({
        title: 'A PyTorch program, as torch.export.save writes it',
        filters: { 'PyTorch program': ['pt2'] },
    });
    return files?.[0];
}
