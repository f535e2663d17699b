// The line of lenses in an editor of a common width.
import assert from 'node:assert/strict';

import { expectSoon } from './expect';
import { story } from './session';
import { Workbench } from './workbench';

const file = 'long.cu';
const text = `__global__ void flip(const float* in, float* out, int n) {
    __shared__ float aVeryLongNameOfTheTileOfABlock[32][32];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    aVeryLongNameOfTheTileOfABlock[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[y * n + x] = aVeryLongNameOfTheTileOfABlock[threadIdx.x][threadIdx.y];
}
void run(float* in, float* out) { flip<<<dim3(99, 99), dim3(32, 32)>>>(in, out, 99 * 32); }
`;
const test = story({}, { [file]: text });

test('the lenses of a kernel are short, however long the title of the skill', async (session) => {
    const workbench = new Workbench(session.page);
    await session.page.setViewportSize({ width: 1440, height: 900 });
    await workbench.open(file);
    const editor = session.page.locator('.editor-instance .monaco-editor').first();
    for (const title of [/^bank-conflicts · /, 'Optimize', 'Profile', 'Apply: pad rows']) {
        const lens = workbench.lens(title).first();
        await lens.waitFor();
        const [box, around] = [await lens.boundingBox(), await editor.boundingBox()];
        assert.ok(box && around && box.x + box.width <= around.x + around.width, `${title} ends at ${box && box.x + box.width}`);
    }
    // They are drawn anew when the server has learnt more.
    const titles = await expectSoon('all four lenses', async () => {
        const shown = await workbench.lens('').allInnerTexts();
        return shown.length === 4 ? shown : undefined;
    });
    assert.ok(titles.join('').length <= 60, titles.join(' | '));
    assert.ok(titles.indexOf('Optimize') < titles.findIndex((title) => title.startsWith('Apply: ')), titles.join(' | '));
});

test('the hover on a kernel has what to do, and folds its evidence', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.goTo(1, 18);
    await workbench.hoverAtCursor(/Pad the rows of shared array/);
    const evidence = session.page.locator('.monaco-hover:visible details', { hasText: 'Evidence' });
    const launch = evidence.getByText('launch: grid 99×99', { exact: false });
    await evidence.waitFor();
    assert.equal(await launch.isVisible(), false);
    await evidence.locator('summary').click();
    await launch.waitFor();
    await session.page.keyboard.press('Escape');
});
