import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isProgramProfile, type ProgramKernel, type ProgramProfile, programState } from '../../../editors/vscode/src/views/programModel';

function kernel(name: string, changes: Partial<ProgramKernel> = {}): ProgramKernel {
    return { name, uri: `file:///w/${name}.cu`, line: 3, profile: null, ...changes };
}

const profile: ProgramProfile = {
    name: 'small',
    program: ['./a', '1024'],
    status: 0,
    dropped: 0,
    kernels: [kernel('sums'), kernel('library', { uri: null, line: null })],
    devices: [{ text: 'GPU 0: kernels 1 ms' }],
    table: [['share', 'kernel'], ['90 %', 'sums'], ['10 %', 'library']],
    changes: null,
    summary: 'small: 2 kernels',
};

test('a profile becomes rows, of which those with a place lead to it', () => {
    const state = programState(profile);
    assert.equal(state.command, './a 1024');
    assert.deepEqual(state.isPlaced, [true, false]);
    assert.deepEqual(state.devices, ['GPU 0: kernels 1 ms']);
    assert.deepEqual(state.changes, []);
    assert.deepEqual(state.problems, []);
});

test('what keeps the details of several kernels is said once', () => {
    const error = { what: 'no runner', where: '', remedy: 'install it' };
    const state = programState({
        ...profile,
        kernels: [
            kernel('a', { profile: { error } }),
            kernel('b', { profile: { error: { what: 'not captured', where: 'b.cu:4', remedy: '' } } }),
            kernel('c', { profile: { error } }),
            kernel('d', { profile: {} }),
        ],
    });
    assert.deepEqual(state.problems, ['a, c: no runner. install it', 'b: not captured (b.cu:4)']);
});

test('other results of commands are no profiles of programs', () => {
    assert.ok(isProgramProfile(profile));
    for (const other of [null, undefined, 'text', {}, { kernel: 'k' }]) assert.equal(isProgramProfile(other), false);
});
