// The workbench for a user who is quicker than the server.
import path from 'node:path';

import { example, root, story } from './session';
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
