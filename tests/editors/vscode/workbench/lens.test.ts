// The line of lenses in an editor of a common width.
import assert from 'node:assert/strict';

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
    const titles = await workbench.lens('').allInnerTexts();
    assert.ok(titles.join('').length <= 60, titles.join(' | '));
    assert.ok(titles.indexOf('Optimize') < titles.findIndex((title) => title.startsWith('Apply: ')), titles.join(' | '));
});
