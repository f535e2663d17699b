// The explorer's command on a PyTorch program: kernels and their report.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expectSoon } from './expect';
import { root, story } from './session';
import { Workbench } from './workbench';

const archive = readFileSync(path.join(root, 'tests/engine/graph/programs/mlp.pt2'));
const test = story({}, { 'mlp.pt2': archive });

test('the explorer offers to generate kernels from an archive, and a report says how they were checked', async (session) => {
    const workbench = new Workbench(session.page);
    const entry = session.page.getByRole('menuitem', { name: 'Generate CUDA from PyTorch Program...' });
    // A menu that opens before the extension's contributions are read lacks the entry.
    await expectSoon('the entry of the menu', async () => {
        await session.page.keyboard.press('Escape');
        await session.page.getByRole('treeitem', { name: 'mlp.pt2' }).click({ button: 'right' });
        return entry.waitFor({ timeout: 5000 }).then(() => true, () => false);
    });
    await entry.hover();
    await session.page.keyboard.press('Enter');
    await workbench.pick('Split TF32', 'Split TF32');
    await session.page.locator('.quick-input-widget:visible input[type=text]').waitFor();
    await session.page.keyboard.press('Enter');
    const report = await workbench.frame('main h1');
    await report.getByText(/LibTorch/).first().waitFor();
    await workbench.notification(/kernels agree with LibTorch|were not checked/).waitFor();
    for (const name of ['model.h', 'kernels.h', 'model.json', 'report.html'])
        assert.ok(existsSync(path.join(session.workspace, 'mlp', name)), name);
});
