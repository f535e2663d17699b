// How a user comes to each view of ours. Those of a kernel are of the one on line 7.
import type { Frame } from 'playwright-core';

import type { Workbench } from './workbench';

/** Starts a search. */
export async function optimize(workbench: Workbench, file: string): Promise<Frame> {
    await workbench.open(file);
    await workbench.goTo(7, 1);
    await workbench.run('KernelSkill: Optimize Kernel at Cursor');
    return workbench.view('run');
}

/** Lets a search end, and takes nothing of what it proposes. */
export async function optimizeAndDiscard(workbench: Workbench, file: string): Promise<Frame> {
    await optimize(workbench, file);
    await workbench.notification(/KernelSkill: Optimize kernel/).getByRole('button', { name: 'Discard' }).click();
    const run = await workbench.view('run');
    await run.getByRole('heading', { name: 'Round 1' }).waitFor();
    return run;
}

export async function showMemory(workbench: Workbench, file: string): Promise<Frame> {
    await workbench.open(file);
    await workbench.run('KernelSkill: Show What Was Tried on This File');
    const memory = await workbench.view('memory');
    await memory.locator('article').first().waitFor();
    return memory;
}

/** With what belongs to the line lit; counts from 1. */
export async function showAssembly(workbench: Workbench, file: string, line: number): Promise<Frame> {
    await workbench.open(file);
    await workbench.goTo(7, 1);
    await workbench.run('KernelSkill: Show What the Kernel at the Cursor Compiles To');
    const assembly = await workbench.view('assembly');
    await assembly.locator('li[data-line]').first().waitFor();
    await workbench.open(file);
    await workbench.goTo(line, 1);
    await assembly.locator('li.lit').nth(1).waitFor();
    return assembly;
}

/** By the lens. */
export async function showProfile(workbench: Workbench, file: string): Promise<Frame> {
    await workbench.open(file);
    await workbench.lens('Profile').first().click();
    const page = await workbench.view('page');
    await page.locator('svg.roofline').first().waitFor();
    return page;
}
