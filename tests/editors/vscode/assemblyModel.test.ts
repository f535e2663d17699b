import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Assembly, assemblyState, type Version } from '../../../editors/vscode/src/views/assemblyModel';

function version(label: string, instructions: Version['instructions']): Version {
    return {
        label,
        file: '/w/k.cu',
        kernel: 'k',
        language: 'ptx',
        architecture: 'sm_90',
        compiler: 'nvcc 13.0',
        facts: { registers: 12, spill_store_bytes: 0, spill_load_bytes: 0, shared_bytes: 4096, occupancy: { percent: 50 } },
        total: instructions.length,
        files: [{ path: '/w/k.cu' }, { path: '/cuda/include/x.h' }],
        labels: [{ name: '$L1', before: 1 }],
        instructions,
        notes: [],
    };
}

const one = version('editor', [
    { text: 'mov', shown: { file: 0, line: 2 } },
    { text: 'add', shown: { file: 1, line: 3 } },
    { text: 'ret', shown: { file: 0, line: 4 } },
]);

test('one version: its instructions with labels', () => {
    const state = assemblyState({ versions: [one], difference: null }, []);
    const [listing] = state.listings;
    assert.deepEqual(listing!.instructions.map(({ text }) => text.trim()), ['mov', '$L1:', 'add', 'ret']);
    assert.equal(listing!.facts, 'PTX for sm_90, nvcc 13.0 · 3 instructions · 12 registers · no spills · 4096 bytes of shared memory · 50 % occupancy');
});

test('a version that is a file is called by its name, without its folders', () => {
    const labels = [version('/w/k.cu', []), version('saved', [])].map(
        (each) => assemblyState({ versions: [each], difference: null }, []).listings[0]!.label,
    );
    assert.deepEqual(labels, ['k.cu', 'saved']);
});

test('lines of other files are not taken for lines of this one', () => {
    const [listing] = assemblyState({ versions: [one], difference: null }, []).listings;
    assert.deepEqual(listing!.instructions.map(({ line }) => line), [2, undefined, undefined, 4]);
});

test('two versions are aligned row by row', () => {
    const two = version('after', [{ text: 'mov', shown: null }, { text: 'ret', shown: null }]);
    const difference: Assembly['difference'] = {
        rows: [
            { change: 'same', before: 0, after: 0 },
            { change: 'removed', before: 1, after: null },
            { change: 'changed', before: 2, after: 1 },
        ],
    };
    const [before, after] = assemblyState({ versions: [one, two], difference }, []).listings;
    assert.deepEqual(before!.instructions.map(({ text, change }) => `${change} ${text}`), ['same mov', 'removed add', 'changed ret']);
    assert.deepEqual(after!.instructions.map(({ text, change }) => `${change} ${text}`), ['same mov', 'gap ', 'changed ret']);
});
