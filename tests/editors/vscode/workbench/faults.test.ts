// The workbench when the server stops, or is not there.
import assert from 'node:assert/strict';

import { expectSoon } from './expect';
import { serversOf } from './processes';
import { example, story } from './session';
import { Workbench } from './workbench';

const file = 'transpose.cu';
const test = story({}, { [file]: example(file) });

test('a server that crashes is started again: its documents are as before, and the user is told once', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.lens('bank-conflicts').waitFor();
    const first = await expectSoon('the server', () => serversOf(session.folder)[0]);
    process.kill(first, 'SIGKILL');
    const told = workbench.notification('the server stopped unexpectedly and is started again');
    await told.waitFor();
    const second = await expectSoon('another server', () => {
        const now = serversOf(session.folder)[0];
        return now === first ? undefined : now;
    });

    // It knows the text that the editor has: an error that is typed now is found.
    await workbench.goTo(12, 11);
    await session.page.keyboard.type('h');
    await session.page.keyboard.press('Escape');
    await session.page.locator('.squiggly-error').first().waitFor();
    await session.page.keyboard.press('Control+z');
    await session.page.locator('.squiggly-error').first().waitFor({ state: 'detached' });

    process.kill(second, 'SIGKILL');
    await expectSoon('a third server', () => {
        const now = serversOf(session.folder)[0];
        return now === second ? undefined : now;
    });
    await workbench.lens('bank-conflicts').waitFor();
    await workbench.run('Notifications: Show Notifications');
    const messages = session.page.locator('.notifications-center .notification-list-item');
    await messages.filter({ hasText: 'stopped unexpectedly' }).waitFor();
    assert.equal(await messages.count(), 1);
});

test('a server that is missing is one message that says what to do', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.run('Notifications: Clear All Notifications');
    session.configure({ 'kernelskill.server.path': '/nowhere/kernelskill' });
    const message = workbench.notification('kernelskill.server.path is "/nowhere/kernelskill", which is not an executable file');
    await message.getByRole('button', { name: 'Open Settings' }).waitFor();
    assert.equal(await session.page.locator('.notifications-toasts .notification-list-item').count(), 1);
    await workbench.statusOf('KernelSkill').locator('.codicon-error').waitFor();

    session.configure({});
    await workbench.statusOf('KernelSkill').locator('.codicon-error').waitFor({ state: 'detached' });
    await workbench.lens('bank-conflicts').waitFor();
});

test('a path that changes between a crash and the restart is followed, and one server runs', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.run('Notifications: Clear All Notifications');
    const crashed = await expectSoon('the server', () => serversOf(session.folder)[0]);
    process.kill(crashed, 'SIGKILL');
    session.configure({ 'kernelskill.server.path': '/nowhere/kernelskill' });
    await workbench.notification('kernelskill.server.path is "/nowhere/kernelskill", which is not an executable file').waitFor();
    // Longer than the wait before the restart, which must not be.
    await new Promise((resolve) => setTimeout(resolve, 6000));
    assert.deepEqual(serversOf(session.folder), []);
    await workbench.statusOf('KernelSkill').locator('.codicon-error').waitFor();

    session.configure({});
    await workbench.statusOf('KernelSkill').locator('.codicon-error').waitFor({ state: 'detached' });
    await workbench.lens('bank-conflicts').waitFor();
});

test('what the server refuses is one message, with what helps as a button', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.run('Notifications: Clear All Notifications');
    session.configure({ 'kernelskill.execution.enabled': false });
    await workbench.open(file);
    await workbench.goTo(1, 1);
    await session.page.keyboard.type(' '); // Lenses are asked for again when the text changes.
    await workbench.lens('Optimize').first().waitFor({ state: 'detached' });
    await workbench.goTo(7, 1);
    await workbench.run('KernelSkill: Profile Kernel at Cursor');
    const message = workbench.notification('KernelSkill: Running kernels is turned off (kernelskill.execution.enabled).');
    await message.waitFor();
    await workbench.notification('profiling').waitFor({ state: 'detached' });
    assert.equal(await session.page.locator('.notifications-toasts .notification-list-item').count(), 1);
    await message.getByRole('button', { name: 'Open Settings' }).click();
    await session.page.locator('.settings-editor').waitFor();
});
