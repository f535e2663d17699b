// axe-core over each view, in each kind of theme.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Frame } from 'playwright-core';

import { example, kernelskill, root, type Session, story } from './session';
import { optimizeAndDiscard, showAssembly, showMemory, showProfile } from './views';
import { Workbench } from './workbench';

const file = 'transpose.cu';
const themes = ['Default Light Modern', 'Default Dark Modern', 'Default High Contrast', 'Default High Contrast Light'];
const axe = readFileSync(path.join(root, 'editors/vscode/node_modules/axe-core/axe.min.js'), 'utf8');
const test = story({}, { [file]: example(file) });

interface Fault {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** The violations that axe calls serious or worse. */
async function faultsOf(view: Frame): Promise<string[]> {
    const script = `${axe}; axe.run(document, { resultTypes: ['violations'] }).then(({ violations, passes }) => ({ violations, passed: passes.length }))`;
    const { violations, passed } = (await view.evaluate(script)) as { violations: Fault[]; passed: number };
    assert.ok(passed > 10, 'axe had nothing to look at');
    return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html.slice(0, 300)}\n${failureSummary}`));
}

async function expectNoFault(session: Session, name: string): Promise<void> {
    const workbench = new Workbench(session.page);
    const faults = new Set<string>();
    for (const theme of themes) {
        session.configure({ 'workbench.colorTheme': theme });
        const view = await workbench.view(name);
        await view.locator(`body[data-vscode-theme-id="${theme}"]`).waitFor();
        for (const fault of await faultsOf(view)) faults.add(`${theme}: ${fault}`);
    }
    assert.deepEqual([...faults], []);
}

test('the view of a run has no serious fault in any theme', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.lens('Optimize').waitFor();
    const run = await optimizeAndDiscard(workbench, file);
    await run.getByText('The edit').first().click();
    await expectNoFault(session, 'run');
});

test('the memory view has none', async (session) => {
    await showMemory(new Workbench(session.page), file);
    await expectNoFault(session, 'memory');
});

test('the profile view has none', async (session) => {
    await showProfile(new Workbench(session.page), file);
    await expectNoFault(session, 'page');
});

test('the assembly view has none, alone and compared, where there is a compiler for it', async (session) => {
    if (spawnSync(kernelskill, ['assembly', path.join(root, 'examples', file)]).status !== 0) return;
    const workbench = new Workbench(session.page);
    await showAssembly(workbench, file, 16);
    await expectNoFault(session, 'assembly');
    await workbench.open(file);
    await workbench.goTo(16, 9);
    await session.page.keyboard.type('if (x) ');
    await (await workbench.view('assembly')).getByRole('button', { name: 'Compare with the saved file' }).click();
    await (await workbench.view('assembly')).locator('.columns.two .added').first().waitFor();
    await expectNoFault(session, 'assembly');
});
