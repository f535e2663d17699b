// axe-core over a view, in each kind of theme.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Frame } from 'playwright-core';

import { root, type Session } from './session';
import { Workbench } from './workbench';

const themes = ['Default Light Modern', 'Default Dark Modern', 'Default High Contrast', 'Default High Contrast Light'];
const axe = readFileSync(path.join(root, 'editors/vscode/node_modules/axe-core/axe.min.js'), 'utf8');

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

/** Leaves the workbench with the last theme. */
export async function expectNoFault(session: Session, name: string): Promise<void> {
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
