// The assembly view with the machine code of a GPU, where there is a compiler for it.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { example, serverWithTools, story } from './session';
import { showAssembly } from './views';
import { Workbench } from './workbench';

const file = 'transpose.cu';
const test = story({ 'kernelskill.server.path': serverWithTools }, { [file]: example(file) });

test('SASS stands beside the source, each instruction lit with its line', async (session) => {
    if (spawnSync(serverWithTools, ['assembly', path.join(session.workspace, file)]).status !== 0) return;
    const workbench = new Workbench(session.page);
    const assembly = await showAssembly(workbench, file, 16);
    await assembly.getByText(/SASS for sm_\d+, .*38 instructions · 12 registers/).waitFor();
    // A load of shared memory and a store, from their line of source.
    await assembly.locator('li.lit', { hasText: 'out[y * height + x]' }).waitFor();
    await assembly.locator('li.lit', { hasText: 'LDS R5, [R0]' }).waitFor();
    await assembly.locator('li.lit', { hasText: 'STG.E desc[UR6][R2.64], R5' }).waitFor();
    // And the line from an instruction.
    await assembly.locator('li', { hasText: 'BAR.SYNC' }).hover();
    await assembly.locator('li.lit', { hasText: '__syncthreads();' }).waitFor();
});
