// The assembly view with the machine code of a GPU, where there is a compiler for it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { example, serverWithTools, story } from './session';
import { showAssembly } from './views';
import { expectSoon } from './expect';
import { Workbench } from './workbench';

const file = 'transpose.cu';

async function lit(workbench: Workbench, line: RegExp): Promise<void> {
    await expectSoon(`a line lit in the editor: ${line}`, async () => line.test((await workbench.litText()) ?? ''));
}
const test = story({ 'kernelskill.server.path': serverWithTools }, { [file]: example(file) });

test('SASS stands beside the editor, and each lights up what belongs to the other', async (session) => {
    if (spawnSync(serverWithTools, ['assembly', path.join(session.workspace, file)]).status !== 0) return;
    const workbench = new Workbench(session.page);
    const assembly = await showAssembly(workbench, file, 16);
    await assembly.getByText(/SASS for sm_\d+, .*38 instructions · 12 registers/).waitFor();
    assert.equal(await assembly.locator('ol.code').count(), 1, 'the source is in the editor');
    // A load of shared memory and a store, from the line of the cursor.
    await assembly.locator('li.lit', { hasText: 'LDS R5, [R0]' }).waitFor();
    await assembly.locator('li.lit', { hasText: 'STG.E desc[UR6][R2.64], R5' }).waitFor();
    await lit(workbench, /out\[y.*height/);
    // And the line of the editor from an instruction.
    await assembly.locator('li', { hasText: 'BAR.SYNC' }).hover();
    await lit(workbench, /__syncthreads/);
});
