// The pictures of the README, of the workbench as its tests drive it. script/screenshots runs this.
import path from 'node:path';

import { example, type Session, story } from '../workbench/session';
import { Workbench } from '../workbench/workbench';

const folder = process.env['KERNELSKILL_TEST_PICTURES']!;
const theme = process.env['KERNELSKILL_TEST_THEME'] ?? 'Default Dark Modern';
const file = 'transpose.cu';
const test = story(
    { 'workbench.colorTheme': theme, 'breadcrumbs.enabled': false, 'window.menuBarVisibility': 'hidden', 'workbench.layoutControl.enabled': false },
    { [file]: example(file), 'saxpy.cu': example('saxpy.cu'), 'reduce.cu': example('reduce.cu') },
);

async function take({ page }: Session, name: string): Promise<void> {
    await page.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled', caret: 'hide' });
}

/** Of the view beside the editor, which it then closes. */
async function takeView(session: Session, name: string): Promise<void> {
    const workbench = new Workbench(session.page);
    await workbench.run('Notifications: Clear All Notifications');
    await session.page.mouse.move(640, 799);
    await take(session, name);
    await workbench.open(file);
    await workbench.run('View: Close Editors in Other Groups');
}

test('the editor with lens, hint and hover, beside the kernels of the workspace', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.lens('bank-conflicts').waitFor();
    await workbench.showKernels();
    for (const kernel of ['transpose', 'saxpy', 'blockSum']) await workbench.kernel(kernel).waitFor();
    await workbench.open(file);
    await workbench.line('32-way bank conflict').waitFor();
    await workbench.run('Notifications: Clear All Notifications');
    await session.page.mouse.move(640, 799); // away from the hover
    await workbench.goTo(16, 32);
    await workbench.hoverAtCursor(/index: 32\*threadIdx/);
    await take(session, 'vscode-editor');
    await session.page.keyboard.press('Escape');
    await workbench.run('View: Close Primary Side Bar');
});

test('an optimisation', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.goTo(7, 1);
    await workbench.run('KernelSkill: Optimize Kernel at Cursor');
    await session.page.locator('.bulk-edit-panel').getByRole('button', { name: 'Discard' }).click();
    const run = await workbench.view('run');
    await run.locator('article.best summary').click();
    await run.locator('article.best .diff .added').first().waitFor();
    await takeView(session, 'vscode-optimize');
});

test('what was tried', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.run('KernelSkill: Show What Was Tried on This File');
    await (await workbench.view('memory')).locator('article').first().click();
    await takeView(session, 'vscode-memory');
});

test('what a kernel compiles to', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.goTo(7, 1);
    await workbench.run('KernelSkill: Show What the Kernel at the Cursor Compiles To');
    const assembly = await workbench.view('assembly');
    await assembly.locator('li[data-line="15"]').first().focus();
    await assembly.locator('li.lit').nth(2).waitFor();
    await takeView(session, 'vscode-assembly');
});

test('a profile', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open('reduce.cu');
    await workbench.lens('Profile').first().click();
    await (await workbench.view('page')).locator('svg.roofline').first().click();
    await takeView(session, 'vscode-profile');
});
