// Each view for those who see or click otherwise: see axe.ts. That of a program is looked at in program.test.ts.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { expectNoFault } from './axe';
import { example, kernelskill, root, story } from './session';
import { optimizeAndDiscard, showAssembly, showMemory, showProfile } from './views';
import { Workbench } from './workbench';

const file = 'transpose.cu';
const test = story({}, { [file]: example(file) });

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
