// The pictures of the README, of the workbench as its tests drive it. script/screenshots runs this.
import path from 'node:path';

import { example, serverWithTools, type Session, story } from '../workbench/session';
import { optimizeAndDiscard, showAssembly, showMemory, showProfile } from '../workbench/views';
import { Workbench } from '../workbench/workbench';

const folder = process.env['KERNELSKILL_TEST_PICTURES']!;
const theme = process.env['KERNELSKILL_TEST_THEME'] ?? 'Default Dark Modern';
const file = 'transpose.cu';
const test = story(
    {
        'kernelskill.server.path': serverWithTools,
        'workbench.colorTheme': theme,
        'breadcrumbs.enabled': false,
        'window.menuBarVisibility': 'hidden',
        'workbench.layoutControl.enabled': false,
    },
    { [file]: example(file), 'saxpy.cu': example('saxpy.cu'), 'reduce.cu': example('reduce.cu') },
);

async function take({ page }: Session, name: string): Promise<void> {
    await page.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled', caret: 'hide' });
}

/** Takes the picture of the view beside the editor, then closes it. */
async function takeView(session: Session, name: string): Promise<void> {
    const workbench = new Workbench(session.page);
    await workbench.run('Notifications: Clear All Notifications');
    await session.page.mouse.move(640, 799);
    await session.page.locator('.workbench-hover').waitFor({ state: 'hidden' });
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
    const run = await optimizeAndDiscard(workbench, file);
    await run.locator('article.best summary').click();
    await run.locator('article.best .diff .added').first().waitFor();
    await takeView(session, 'vscode-optimize');
});

test('what was tried', async (session) => {
    await (await showMemory(new Workbench(session.page), file)).locator('article').first().click();
    await takeView(session, 'vscode-memory');
});

test('what a kernel compiles to', async (session) => {
    await showAssembly(new Workbench(session.page), file, 16);
    await takeView(session, 'vscode-assembly');
});

test('a profile', async (session) => {
    await (await showProfile(new Workbench(session.page), 'reduce.cu')).locator('svg.roofline').first().click();
    await takeView(session, 'vscode-profile');
});
