// The optimisation of a whole program: its kernels are searched in copies of the workspace, and one edit comes of it.
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { root, story } from './session';
import { onStandIn, standInSettings } from './standIn';

const file = 'a.cu';
const text = readFileSync(path.join(root, 'tests/editors/optimizable.cu'), 'utf8');

const settings = { ...standInSettings(file, ['small']), 'kernelskill.gpu.enabled': false, 'kernelskill.preview.optimize': true };
const test = onStandIn(story(settings, { [file]: text }));

test('a text that is not saved is not what is built', async (session, workbench) => {
    await workbench.open(file);
    await workbench.goTo(1, 1);
    await session.page.keyboard.type(' ');
    await session.page.locator(`.tab.active.dirty[data-resource-name="${file}"]`).waitFor();
    await workbench.run('KernelSkill: Optimize Program');
    await workbench.notification(/Save a\.cu first/).waitFor();
    await session.page.keyboard.press('Backspace');
    await session.save(file, text);
});

test('what is found is shown, then applied', async (session, workbench) => {
    await workbench.open(file);
    await workbench.run('KernelSkill: Optimize Program');
    await workbench.proposed('reinterpret_cast<float4*>').waitFor({ timeout: 120_000 });
    await workbench.notification(/Optimize program 'small'.* checked by 1 buffer on the GPU/).first().waitFor();
    await session.page.getByRole('button', { name: /^Apply the Edit/ }).click();
    await workbench.proposed('reinterpret_cast<float4*>').waitFor({ state: 'detached' });
    await workbench.line('hot<<<(64 + 3) / 4, 128>>>(x, 8192);').waitFor();
});
