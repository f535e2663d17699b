// The main job, as a user does it in VS Code: each step goes on from the one before.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { example, kernelskill, root, story } from './session';
import { optimize, showMemory } from './views';
import { Workbench } from './workbench';

const file = 'transpose.cu';
const original = example(file);
const padded = 'tile[TILE][TILE + 1]';
const improved = original.replace('tile[TILE][TILE]', padded);

const other = 'reduce.cu';
const test = story({}, { [file]: original, [other]: example(other) });

test('a file is opened: the lens over its kernel names what holds it back', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.lens('bank-conflicts').waitFor();
    await workbench.lens('Profile').waitFor();
    await workbench.lens('Optimize').waitFor();
    // The inlay hint and the squiggle stand at the access.
    await workbench.line('32-way bank conflict').waitFor();
    await session.page.locator('.squiggly-info').first().waitFor();
});

test('the hover of the access has the evidence', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.goTo(16, 32);
    await workbench.hoverAtCursor(
        /32-way bank conflict/,
        /indexed by 32\*threadIdx\.x \+ threadIdx\.y/,
        /index: 32\*threadIdx\.x \+ threadIdx\.y/,
    );
    await session.page.keyboard.press('Escape');
});

test('its diagnostic leads to the skill that answers it, which the menu has once', async (session) => {
    const workbench = new Workbench(session.page);
    const padding = workbench.actions.filter({ hasText: 'Pad the rows of shared array tile by 1' });
    await workbench.hoverAtCursor(/32-way bank conflict/, /Quick Fix/);
    await session.page.locator('.monaco-hover:visible').getByRole('button', { name: /Quick Fix/ }).click();
    await padding.waitFor();
    assert.equal(await workbench.actions.count(), 2);
    assert.equal(await workbench.actions.filter({ hasText: "Ignore 'bank-conflicts' on line" }).count(), 1);
    await session.page.keyboard.press('Escape');
    await session.page.keyboard.press('Control+.');
    await workbench.actions.filter({ hasText: 'Qualify the pointers' }).waitFor();
    assert.equal(await padding.count(), 1);
    await session.page.keyboard.press('Escape');
});

test('a skill is applied from the light bulb, and one undo takes it back', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.goTo(7, 22);
    await workbench.takeAction('Pad the rows of shared array tile by 1');
    await workbench.line(padded).waitFor();
    const notice = workbench.notification(/Pad the rows of shared array tile by 1: applied, unmeasured: Matches the original on .*wavefronts \d+ -> \d+/);
    await notice.waitFor();
    await session.save(file, improved);
    await workbench.lens('bank-conflicts').waitFor({ state: 'detached' });
    assert.equal(await session.page.locator('.notifications-toasts .notification-list-item').count(), 1);

    await session.page.keyboard.press('Control+z');
    await workbench.line(padded).waitFor({ state: 'detached' });
    await session.save(file, original);
});

test('the button of the notice takes the edit back, unless the text has changed since', async (session) => {
    const workbench = new Workbench(session.page);
    const apply = async () => {
        await workbench.run('Notifications: Clear All Notifications');
        await workbench.open(file);
        await workbench.goTo(7, 22);
        await workbench.takeAction('Pad the rows of shared array tile by 1');
        await workbench.line(padded).waitFor();
        return workbench.notification(/applied, unmeasured/).getByRole('button', { name: 'Undo' });
    };
    await (await apply()).click();
    await workbench.line(padded).waitFor({ state: 'detached' });
    await session.save(file, original);

    const undo = await apply();
    await undo.waitFor();
    await session.page.keyboard.type(' ');
    await undo.click();
    await workbench.notification(/The text has changed since the edit was applied/).waitFor();
    await workbench.line(padded).waitFor();
    await session.page.keyboard.press('Control+z');
    await session.page.keyboard.press('Control+z');
    await workbench.line(padded).waitFor({ state: 'detached' });
    await session.save(file, original);
});

test('the code is broken: the error is shown, and its fix taken', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.goTo(12, 11);
    await session.page.keyboard.type('h'); // __synchthreads
    await session.page.keyboard.press('Escape');
    await session.page.locator('.squiggly-error').first().waitFor();
    await session.save(file, original.replace('__syncthreads', '__synchthreads'));

    await workbench.takeAction(/Fix compile error: .*__syncthreads/);
    await session.page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
    await session.save(file, original);
});

test('an optimisation shows its rounds, and what it found before it changes the text', async (session) => {
    const workbench = new Workbench(session.page);
    const run = await optimize(workbench, file);
    // A round as it happened, before the answer, which waits for the user.
    await run.locator('article').first().waitFor();
    await workbench.proposed(padded).waitFor();
    assert.equal(session.read(file), original);
    await workbench.notification(/Optimize kernel 'transpose': .*shared-memory-padding/).getByRole('button', { name: 'Apply' }).click();
    await workbench.notification(/by shared-memory-padding/).getByRole('button', { name: 'Undo' }).waitFor();
    await workbench.open(file);
    await workbench.line(padded).waitFor();
    await session.save(file, improved);
    await session.page.keyboard.press('Control+z');
    await workbench.line(padded).waitFor({ state: 'detached' });
    await session.save(file, original);

    await run.getByText(/The best: shared-memory-padding/).waitFor();
    await run.locator('article.best').getByText('best').waitFor();
});

test('any candidate of it can be taken', async (session) => {
    const workbench = new Workbench(session.page);
    const run = await workbench.view('run');
    const candidate = run.locator('article', { hasText: 'restrict-and-const' }).first();
    await candidate.getByText('The edit').click();
    await candidate.locator('.diff .added', { hasText: '__restrict__ out' }).waitFor();
    await candidate.getByRole('button', { name: /Take this one: \d+, restrict-and-const/ }).press('Enter');
    await workbench.line('__restrict__ out').waitFor();
    await workbench.notification(/restrict-and-const: applied/i).getByRole('button', { name: 'Undo' }).waitFor();
    await workbench.open(file);
    await session.save(file, original.replace('float* out, const float* in,', 'float* __restrict__ out, const float* __restrict__ in,'));
    await session.page.keyboard.press('Control+z');
    await workbench.line('__restrict__ out').waitFor({ state: 'detached' });
    await session.save(file, original);
});

test('an optimisation is cancelled: nothing changes', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(other); // nothing of it is remembered: the search takes its time
    await workbench.lens('Optimize').waitFor();
    await workbench.lens('Optimize').click();
    const run = await workbench.view('run');
    await run.getByRole('button', { name: 'Cancel' }).waitFor();
    // It is the only one.
    assert.equal(await workbench.notification('').getByRole('button', { name: 'Cancel' }).count(), 0);
    await run.getByRole('button', { name: 'Cancel' }).click();
    await run.getByRole('progressbar').waitFor({ state: 'detached' });
    await run.getByRole('status').filter({ hasText: /^Cancelled/ }).waitFor();
    assert.equal(await session.page.locator('.monaco-diff-editor').count(), 0);
    await session.save(other, example(other));
});

test('the memory has what was tried, with verdicts, and tries it again', async (session) => {
    const workbench = new Workbench(session.page);
    const memory = await showMemory(workbench, file);
    const tried = memory.locator('article', { hasText: 'shared-memory-padding' });
    const padding = tried.filter({ hasText: 'unmeasured' }).first();
    await padding.waitFor();
    await padding.getByText(/needs 32 wavefronts a request/).waitFor();

    await padding.getByRole('button', { name: /Show the edit/ }).click();
    await session.page.locator('.monaco-diff-editor .view-line', { hasText: padded }).first().waitFor();
    await workbench.closeEditor();

    // The view was hidden meanwhile, and is another page now.
    const again = await workbench.view('memory');
    await again.getByRole('button', { name: 'Try anyway: shared-memory-padding' }).first().click();
    await workbench.line(padded).waitFor();
    await workbench.open(file);
    await session.save(file, improved);
});

test('the profile has the roofline, the lines and the metrics', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.lens('Profile').first().click();
    const page = await workbench.view('page');
    await page.getByRole('heading', { name: 'transpose' }).first().waitFor();
    await page.getByRole('img', { name: 'Roofline of H200' }).waitFor();
    await page.getByRole('row', { name: /load wavefronts.* 24,576 Turns that shared memory takes/ }).waitFor();
    const line = page.locator('table.source tr', { hasText: 'tile[threadIdx.x][threadIdx.y]' });
    assert.ok(((await line.locator('.gauge i').boundingBox())?.width ?? 0) > 0, 'the line has a bar');
    const metrics = page.locator('table:not(.source)', { hasText: 'load wavefronts' });
    await metrics.getByRole('button', { name: 'value' }).click();
    await metrics.locator('th[aria-sort=descending]').waitFor();
    const values = (await metrics.locator('tbody tr td:nth-child(2)').allInnerTexts()).map((text) => Number(text.replaceAll(',', '')));
    assert.ok(values.length > 2);
    assert.deepEqual(values, [...values].sort((a, b) => b - a));
    await page.getByRole('link', { name: 'Go to line 16' }).click();
    await workbench.statusOf('Ln 16, Col 1').waitFor();
});

test('the assembly is linked with the source, where there is a compiler for it', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.goTo(7, 1);
    await workbench.run('KernelSkill: Show What the Kernel at the Cursor Compiles To');
    const { status, stderr } = spawnSync(kernelskill, ['assembly', path.join(root, 'examples', file)], { encoding: 'utf8' });
    if (status !== 0) {
        assert.match(stderr, /CUDA toolkit/);
        await workbench.notification(/CUDA toolkit/).waitFor();
        return;
    }
    const assembly = await workbench.view('assembly');
    await workbench.open(file);
    await workbench.goTo(16, 1);
    await assembly.locator('li.lit', { hasText: /LDS|ld\.shared/ }).first().waitFor();
    await assembly.locator('li.lit', { hasText: /STG|st\.global/ }).first().waitFor();
});

test('the side panel lists the kernels of the workspace', async (session) => {
    const workbench = new Workbench(session.page);
    session.write('more/saxpy.cu', example('saxpy.cu'));
    await workbench.showKernels();
    await workbench.kernel('transpose').waitFor();
    const saxpy = workbench.kernel(/^saxpy(?!\.cu)/);
    await saxpy.waitFor();
    // Below their files; the only one with a time is first, and last by the name.
    await workbench.kernelAt(0, 'transpose.cu').waitFor();
    await workbench.kernelAt(1, 'transpose').waitFor();
    await workbench.run('KernelSkill: Sort Kernels...');
    await workbench.pick('Name', 'Name');
    await workbench.kernelAt(1, 'blockSum').waitFor();
    await workbench.kernelAt(5, 'transpose').waitFor();
    await workbench.kernel('saxpy.cu').filter({ hasText: 'more · 1 kernel' }).waitFor();
    await workbench.run('KernelSkill: Sort Kernels...');
    await workbench.pick('Headroom', 'Headroom: most first');
    await workbench.kernel('blockSum').locator('.codicon-flame').waitFor();
    await saxpy.click();
    await session.page.locator('.tab.active[data-resource-name="saxpy.cu"]').waitFor();
    await workbench.statusOf(/Ln \d+, Col 17/).waitFor(); // at its name
});

test('the side panel shows the kernels that a filter asks for, and files fold', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.run('KernelSkill: Filter Kernels...');
    await workbench.type('saxpy');
    await workbench.kernel(/^transpose/).waitFor({ state: 'detached' });
    await workbench.kernelAt(1, 'saxpy').waitFor();
    await workbench.run('KernelSkill: Show All Kernels');
    await workbench.kernel(/^transpose(?!\.cu)/).waitFor();
    await workbench.kernel('transpose.cu').locator('.monaco-tl-twistie').click();
    await workbench.kernel(/^transpose(?!\.cu)/).waitFor({ state: 'detached' });
    await workbench.kernel('transpose.cu').locator('.monaco-tl-twistie').click();
    await workbench.kernel(/^transpose(?!\.cu)/).waitFor();
});

test('a click on the status item opens a menu', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.statusOf('KernelSkill').first().click();
    await workbench.entry('Check this machine (doctor)').waitFor();
    await workbench.entry('Optimize the kernel at the cursor').waitFor();
    await session.page.keyboard.press('Escape');
});

test('what the side panel lists can be profiled and optimized there', async (session) => {
    const workbench = new Workbench(session.page);
    const saxpy = workbench.kernel(/^saxpy(?!\.cu)/);
    await saxpy.hover();
    await saxpy.getByRole('button', { name: 'Profile' }).click();
    const page = await workbench.view('page');
    await page.getByRole('heading', { name: 'saxpy', exact: true }).waitFor();
    await saxpy.hover();
    await saxpy.getByRole('button', { name: 'Optimize' }).click();
    const run = await workbench.view('run');
    await run.getByRole('heading', { name: 'Optimize saxpy' }).waitFor();
    await run.getByRole('progressbar').waitFor({ state: 'detached' });
});

test('the walkthrough has its steps, and ticks off that a file was opened', async (session) => {
    const workbench = new Workbench(session.page);
    const open = async () => {
        await workbench.run('Welcome: Open Walkthrough...');
        await workbench.pick('KernelSkill', 'Get Started with KernelSkill');
    };
    const step = (title: string) => session.page.locator('.getting-started-step', { hasText: title });
    const box = (title: string) => step(title).getByRole('checkbox');
    await open();
    for (const title of ['Open a CUDA file', 'Apply a skill', 'Optimize a kernel', 'Check this machine']) await step(title).waitFor();
    await workbench.open(file);
    await workbench.statusOf('KernelSkill').first().waitFor();
    await open();
    await box('Open a CUDA file').and(session.page.locator('[aria-checked=true]')).waitFor();
    assert.equal(await box('Check this machine').getAttribute('aria-checked'), 'false');
});
