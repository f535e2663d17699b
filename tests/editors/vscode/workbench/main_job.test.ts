// The main job, as a user does it in VS Code: each step goes on from the one before.
import assert from 'node:assert/strict';

import { example, story } from './session';
import { slow, Workbench } from './workbench';

const file = 'transpose.cu';
const original = example(file);
const padded = 'tile[TILE][TILE + 1]';
const improved = original.replace('tile[TILE][TILE]', padded);

const test = story({}, { [file]: original });

test('a file is opened: the lens over its kernel names what holds it back', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.lens('bank-conflicts').waitFor(slow);
    await workbench.lens('Profile').waitFor();
    await workbench.lens('Optimize').waitFor();
    // The inlay hint and the squiggle stand at the access.
    await workbench.line('32-way bank conflict').waitFor();
    await session.page.locator('.squiggly-info').first().waitFor();
});

test('the extension was activated in less than 200 ms', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.run('Developer: Show Running Extensions');
    const entry = session.page.locator('.runtime-extensions-editor .extension', { hasText: 'KernelSkill' });
    const text = await entry.locator('.activation-time').innerText();
    const milliseconds = Number(/(\d+)ms/.exec(text)?.[1]);
    assert.ok(milliseconds < 200, text);
    await session.page.keyboard.press('Control+F4');
});

test('the hover of the access has the evidence', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.goTo(16, 32);
    const hover = await workbench.hoverAtCursor();
    assert.match(hover, /32-way bank conflict/);
    assert.match(hover, /index: 32\*threadIdx\.x \+ threadIdx\.y/);
});

test('a skill is applied from the light bulb, and one undo takes it back', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.goTo(7, 22);
    await workbench.takeAction('Pad the rows of shared array tile by 1');
    await workbench.line(padded).waitFor(slow);
    await session.save(file, improved);
    await workbench.lens('bank-conflicts').waitFor({ state: 'detached' });

    await session.page.keyboard.press('Control+z');
    await workbench.line(padded).waitFor({ state: 'detached' });
    await session.save(file, original);
});

test('the code is broken: the error is shown, and its fix taken', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.goTo(12, 11);
    await session.page.keyboard.type('h'); // __synchthreads
    await session.page.keyboard.press('Escape');
    await session.page.locator('.squiggly-error').first().waitFor(slow);
    await session.save(file, original.replace('__syncthreads', '__synchthreads'));

    await workbench.takeAction(/Fix compile error: .*__syncthreads/);
    await session.page.locator('.squiggly-error').first().waitFor({ state: 'detached', ...slow });
    await session.save(file, original);
});

test('an optimisation shows what it found before it changes the text', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.goTo(7, 1);
    await workbench.run('KernelSkill: Optimize Kernel at Cursor');
    const proposed = session.page.locator('.bulk-edit-panel .monaco-list-row', { hasText: '__shared__ float' });
    await proposed.waitFor(slow);
    assert.equal(session.read(file), original);
    await proposed.locator('input[type=checkbox]').check();
    await session.page.locator('.bulk-edit-panel').getByRole('button', { name: 'Apply' }).click();
    await workbench.open(file);
    await workbench.line(padded).waitFor();
    await session.save(file, improved);
    await session.page.keyboard.press('Control+z');
    await workbench.line(padded).waitFor({ state: 'detached' });
    await session.save(file, original);
});
