// The profile of a program, on the stand-in of driver and CUPTI, which runs kernels on the host: a launch takes 10 ns a thread.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { expectNoFault } from './axe';
import { expectSoon } from './expect';
import { story } from './session';
import { onStandIn, standInSettings } from './standIn';

const file = 'a.cu';
const text = `__global__ void hot(float* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void cold(float* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = 2;
}

int main() {
    float* x;
    cudaMalloc(&x, 1 << 20);
    hot<<<64, 128>>>(x);
    cold<<<8, 128>>>(x);
    cudaDeviceSynchronize();
}
`;
const test = story({ ...standInSettings(file, ['large', 'small']), 'kernelskill.profile.programOnSave': true }, { [file]: text });
const withGpu = onStandIn(test);

withGpu('the program is picked once, and its kernels stand in a table by their share', async (session, workbench) => {
    await workbench.open(file);
    await workbench.run('KernelSkill: Profile Program');
    await workbench.pick('small', 'small');
    const view = await workbench.view('program');
    await view.getByRole('heading', { name: 'small' }).waitFor();
    const rows = view.locator('table.kernels tbody tr');
    assert.equal(await rows.count(), 2);
    const hot = (await rows.first().innerText()).replace(/\s+/g, ' ');
    assert.match(hot, /^hot\(float\*\) a\.cu:1 88\.9 % 9\.00x 81\.9 µs 1 81\.9 µs memory-bound \S+$/);
    await view.getByText(/^GPU 0: kernels .* idle /).waitFor();
    assert.ok(existsSync(path.join(session.workspace, '.kernelskill/picked-program')));
});

withGpu('a click on a kernel goes to its line', async (_, workbench) => {
    const view = await workbench.view('program');
    await view.getByRole('link', { name: /^cold/ }).click();
    await workbench.statusOf('Ln 5, Col 1').waitFor();
});

withGpu('lenses say the share, and show the table again', async (_, workbench) => {
    await workbench.open(file);
    await workbench.lens('89 % of GPU time, 81.9 µs in small').waitFor();
    await workbench.lens('11 % of GPU time, 10.2 µs in small').click();
    await (await workbench.view('program')).getByRole('heading', { name: 'small' }).waitFor();
});

withGpu('a save says what became faster, in the status bar and in the table', async (session, workbench) => {
    for (const [blocks, message] of [
        ['32', /small: 2 kernels: 2 unsure/],
        ['16', /small: 2 kernels: 1 faster, 1 same; hot: 2\.00 times as fast, 41 µs to 20\.5 µs/],
    ] as const) {
        await workbench.open(file);
        await workbench.goTo(12, 1);
        await session.page.keyboard.press('Shift+End');
        await session.page.keyboard.type(`    hot<<<${blocks}, 128>>>(x);`);
        await session.page.keyboard.press('Control+s');
        await workbench.statusOf(message).waitFor();
    }
    const view = await workbench.view('program');
    await view.locator('li', { hasText: 'hot: 2.00 times as fast' }).locator('.status.good').waitFor();
    await expectSoon('the new table', async () => /a\.cu:1\s+66\.7 %/.test(await view.locator('table.kernels tbody tr').first().innerText()));
});

withGpu('the view of a program has no serious fault in any theme', (session) => expectNoFault(session, 'program'));

withGpu('a failed build says what the compiler says', async (session, workbench) => {
    await workbench.open(file);
    await workbench.goTo(1, 1);
    await session.page.keyboard.type('nonsense ');
    await session.page.keyboard.press('Control+s');
    await workbench.notification(/the build ended with status 1.*error: unknown type name/s).waitFor();
});
