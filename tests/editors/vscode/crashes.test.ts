import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CrashPolicy } from '../../../editors/vscode/src/crashes';

test('each restart waits longer than the one before, and the user is told once', () => {
    const policy = new CrashPolicy();
    const answers = [0, 1, 2, 3, 4].map((second) => policy.crashed(second * 1000));
    assert.deepEqual(
        answers.map((answer) => answer.kind === 'restart' && [answer.delay, answer.tellsUser]),
        [[500, true], [1000, false], [2000, false], [4000, false], [8000, false]],
    );
});

test('a server that stops again and again is given up', () => {
    const policy = new CrashPolicy();
    for (let i = 0; i < 5; ++i) policy.crashed(i);
    assert.equal(policy.crashed(6).kind, 'giveUp');
});

test('a crash long after the last one begins a new series', () => {
    const policy = new CrashPolicy();
    for (let i = 0; i < 5; ++i) policy.crashed(i);
    assert.deepEqual(policy.crashed(1_000_000), { kind: 'restart', delay: 500, tellsUser: true });
});
