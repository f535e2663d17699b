// The menu that a click on the status item opens.
import * as vscode from 'vscode';

interface Entry extends vscode.QuickPickItem {
    readonly command: string;
    readonly argument?: string;
}

/** Shows the menu and runs the chosen entry. `isOptimizing` tells whether a search is running. */
export async function showMenu(isOptimizing: boolean): Promise<void> {
    const entries: readonly (Entry | false)[] = [
        isOptimizing && { label: '$(debug-stop) Cancel the optimization', command: 'kernelskill.client.cancelRun' },
        !vscode.workspace.isTrusted && { label: '$(shield) Manage trust', command: 'workbench.trust.manage' },
        { label: '$(pulse) Profile the kernel at the cursor', command: 'kernelskill.client.profileKernel' },
        { label: '$(rocket) Optimize the kernel at the cursor', command: 'kernelskill.client.optimizeKernel' },
        { label: '$(list-tree) Show the kernels of the workspace', command: 'kernelskill.kernels.focus' },
        { label: '$(history) Show what was tried on this file', command: 'kernelskill.client.showMemory' },
        { label: '$(dashboard) Profile the program that runs these kernels', command: 'kernelskill.client.profileProgram' },
        { label: '$(rocket) Optimize the program that runs these kernels', command: 'kernelskill.client.optimizeProgram' },
        { label: '$(play) Pick the program that runs these kernels', command: 'kernelskill.client.pickProgram' },
        { label: '$(checklist) Check this machine (doctor)', command: 'kernelskill.client.doctor' },
        { label: '$(gear) Open the settings', command: 'workbench.action.openSettings', argument: 'kernelskill' },
        { label: '$(output) Show the output', command: 'kernelskill.client.showOutput' },
        { label: '$(debug-restart) Restart the server', command: 'kernelskill.client.restart' },
    ];
    const items = entries.filter((entry): entry is Entry => entry !== false);
    const choice = await vscode.window.showQuickPick(items, { title: 'KernelSkill' });
    if (choice) await vscode.commands.executeCommand(choice.command, ...(choice.argument === undefined ? [] : [choice.argument]));
}
