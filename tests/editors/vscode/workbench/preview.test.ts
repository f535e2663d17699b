// An edit that is shown before it is applied: all of it is, or nothing.
import assert from 'node:assert/strict';

import { example, story } from './session';
import { Workbench } from './workbench';

const file = 'transpose.cu';
const original = example(file);
const qualified = original.replace('float* out, const float* in,', 'float* __restrict__ out, const float* __restrict__ in,');
const test = story({ 'kernelskill.preview.skills': true }, { [file]: original });

function question(workbench: Workbench) {
    return workbench.notification(/Apply skill: Qualify the pointers.* Matches the original/).first();
}

async function preview(workbench: Workbench): Promise<void> {
    await workbench.open(file);
    await workbench.goTo(6, 20);
    await workbench.takeAction('Qualify the pointers');
    await workbench.proposed('__restrict__ out').waitFor();
}

test('closing the preview discards the edit', async (session) => {
    const workbench = new Workbench(session.page);
    await preview(workbench);
    await workbench.closeEditor();
    await workbench.proposed('__restrict__ out').waitFor({ state: 'detached' });
    await workbench.open(file);
    await session.save(file, original);
});

test('the button over the preview discards it', async (session) => {
    const workbench = new Workbench(session.page);
    await preview(workbench);
    await session.page.getByRole('button', { name: /^Discard the Edit/ }).click();
    await workbench.proposed('__restrict__ out').waitFor({ state: 'detached' });
    await session.save(file, original);
});

test('the button over the preview applies all parts of the edit', async (session) => {
    const workbench = new Workbench(session.page);
    await preview(workbench);
    assert.equal(await session.page.locator('.bulk-edit-panel').count(), 0);
    await question(workbench).waitFor();
    await session.page.getByRole('button', { name: /^Apply the Edit/ }).click();
    await workbench.proposed('__restrict__ out').waitFor({ state: 'detached' });
    await workbench.line('__restrict__ out').waitFor();
    await question(workbench).waitFor({ state: 'hidden' }); // its buttons would do nothing any more
    await session.save(file, qualified);
    await session.page.keyboard.press('Control+z');
    await workbench.line('__restrict__ out').waitFor({ state: 'detached' });
    await session.save(file, original);
});

test('the blue button of the question applies it as well', async (session) => {
    const workbench = new Workbench(session.page);
    await preview(workbench);
    await question(workbench).getByRole('button', { name: 'Apply', exact: true }).click();
    await workbench.proposed('__restrict__ out').waitFor({ state: 'detached' });
    await workbench.line('__restrict__ out').waitFor();
    await workbench.notification(/: applied, unmeasured/).getByRole('button', { name: 'Undo' }).waitFor();
    await session.save(file, qualified);
});
