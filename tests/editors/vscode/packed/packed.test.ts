// The package that users install, with its server inside, from the first start on. tests/script/run runs this.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { digestsOf } from '../digests';
import { expectSoon } from '../workbench/expect';
import { example, type Session, story } from '../workbench/session';
import { Workbench } from '../workbench/workbench';

/** The package under test. */
const tree = process.env['KERNELSKILL_TEST_TREE']!;
const file = 'transpose.cu';
const test = story({ 'kernelskill.server.path': '' }, { [file]: example(file) });

function storageOf({ folder }: Session): string {
    return path.join(folder, 'data/User/globalStorage/kernelskill.kernelskill');
}

/** The extension's output. */
function logOf({ folder }: Session): string {
    const logs = path.join(folder, 'data/logs');
    const names = readdirSync(logs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('KernelSkill.log'));
    return names.map((name) => readFileSync(path.join(logs, name), 'utf8')).join('');
}

test('the server is unpacked at the first start, with progress, and the activation does not wait for it', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.notification('unpacking the server').waitFor();
    await workbench.lens('bank-conflicts').waitFor();
    const activation = await workbench.activationTime();
    const unpacking = Number(await expectSoon('the time in the log', () => /unpacked the server in (\d+) ms/.exec(logOf(session))?.[1]));
    console.log(`activated in ${activation} ms, unpacked in ${unpacking} ms`);
    assert.ok(activation < unpacking);
});

test('every byte of every file came out', async (session) => {
    const [name, ...more] = readdirSync(storageOf(session));
    assert.deepEqual(more, []);
    for (const part of ['bin', 'lib', 'share', 'licenses']) {
        const digests = digestsOf(path.join(storageOf(session), name!, part));
        assert.ok(Object.keys(digests).length > 3, part);
        assert.deepEqual(digests, digestsOf(path.join(tree, part)), part);
    }
});

test('the next start takes what is there', async (session) => {
    const before = readdirSync(storageOf(session));
    const workbench = new Workbench(session.page);
    await session.page.reload({ waitUntil: 'commit' });
    await session.page.locator('.monaco-workbench .part.statusbar').waitFor();
    await workbench.open(file);
    await expectSoon('the lens', () => workbench.lens('bank-conflicts').isVisible());
    assert.equal(await workbench.notification('unpacking the server').count(), 0);
    assert.deepEqual(readdirSync(storageOf(session)), before);
});
