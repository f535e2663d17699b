// The workbench for a user who is quicker than the server.
import assert from 'node:assert/strict';
import path from 'node:path';

import { expectSoon } from './expect';
import { serversOf } from './processes';
import { example, kernelskill, root, story } from './session';
import { Workbench } from './workbench';

const file = 'transpose.cu';
const slowServer = path.join(root, 'tests/editors/vscode/workbench/slow_server');
const test = story({ 'kernelskill.server.path': slowServer }, { [file]: example(file) });

test('a command that is given while the server starts is carried out when it runs', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.run('KernelSkill: Show What Was Tried on This File');
    await workbench.view('memory');
});

test('a server that is still starting makes way for another one, in silence', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.run('KernelSkill: Restart Server');
    await expectSoon('the end of the first server', () => serversOf(session.folder).length === 0);
    session.configure({ 'kernelskill.server.path': kernelskill });
    await expectSoon('the other server', () => serversOf(session.folder).length === 1);
    await workbench.lens('bank-conflicts').waitFor();
    // Longer than the slow one takes to start.
    await new Promise((resolve) => setTimeout(resolve, 6000));
    assert.equal(serversOf(session.folder).length, 1);
    assert.deepEqual(await session.page.locator('.notifications-toasts .notification-list-item').allInnerTexts(), []);
});
