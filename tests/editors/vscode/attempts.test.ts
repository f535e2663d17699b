import assert from 'node:assert/strict';
import { test } from 'node:test';

import { attemptsOf, type MemoryEntry } from '../../../editors/vscode/src/views/attempts';

function entry(kind: MemoryEntry['kind'], skill: string, changes: Partial<MemoryEntry> = {}): MemoryEntry {
    return { kind, time: 't', kernel: 'k', kernelHash: '01', skill, option: 0, status: '', detail: kind, ...changes };
}

test('plan, edit and verdict become one attempt', () => {
    const [only, ...others] = attemptsOf([
        entry('plan', 'a', { detail: 'why' }),
        entry('edit', 'a', { detail: 'what' }),
        entry('verdict', 'a', { status: 'faster', detail: 'how', speedup: 1.5, kept: true, time: 'later' }),
    ]);
    assert.deepEqual(others, []);
    assert.equal(only!.plan, 'why');
    assert.equal(only!.edit, 'what');
    assert.equal(only!.status, 'faster');
    assert.equal(only!.speedup, 1.5);
    assert.equal(only!.time, 'later');
});

test('attempts that ran side by side are told apart, the newest first', () => {
    const attempts = attemptsOf([
        entry('plan', 'a'),
        entry('plan', 'b'),
        entry('verdict', 'a', { status: 'slower' }),
        entry('verdict', 'b', { status: 'faster' }),
        entry('plan', 'a', { kernelHash: '02' }),
    ]);
    assert.deepEqual(attempts.map(({ skill, status }) => [skill, status]), [['a', ''], ['b', 'faster'], ['a', 'slower']]);
    assert.equal(new Set(attempts.map(({ id }) => id)).size, 3);
});

test('a skill that is tried again is another attempt', () => {
    const attempts = attemptsOf([
        entry('plan', 'a'),
        entry('verdict', 'a', { status: 'incorrect' }),
        entry('verdict', 'a', { status: 'unmeasured' }),
        entry('plan', 'a'),
        entry('plan', 'a'),
    ]);
    assert.deepEqual(attempts.map(({ status }) => status), ['', '', 'unmeasured', 'incorrect']);
});
