import assert from 'node:assert/strict';
import { test } from 'node:test';

import { details, type Entry, type Kernel, sorted, summary } from '../../../editors/vscode/src/kernels/kernelList';

const start = { line: 5, character: 16 };

function kernel(name: string, changes: Partial<Kernel> = {}): Kernel {
    return {
        name,
        range: { start, end: start },
        selectionRange: { start, end: start },
        bottleneck: { kind: 'balanced', headroom: '', evidence: [] },
        measured: null,
        roofline: null,
        ...changes,
    };
}

function entry(file: string, of: Kernel): Entry {
    return { uri: `file:///w/${file}`, file, kernel: of };
}

const quick = entry('b.cu', kernel('quick', { measured: { microseconds: 12.34, roofline_percent: 88.2, gpu: 'NVIDIA H200' } }));
const long = entry('a.cu', kernel('long', { measured: { microseconds: 4200, roofline_percent: 31, gpu: 'NVIDIA H200' } }));
const modelled = entry('c.cu', kernel('modelled', { roofline: { seconds: [3.1e-6, 5.36e-6], gpu: 'H200' } }));
const unknown = entry('a.cu', kernel('another'));

function names(entries: readonly Entry[]): string[] {
    return entries.map(({ kernel }) => kernel.name);
}

test('by time the longest comes first, measured or modelled, and unknown times last', () => {
    assert.deepEqual(names(sorted([unknown, modelled, quick, long], 'time')), ['long', 'quick', 'modelled', 'another']);
});

test('by percent of roofline the farthest below comes first', () => {
    assert.deepEqual(names(sorted([quick, unknown, long], 'roofline')), ['long', 'quick', 'another']);
});

test('by name and by file the spelling decides', () => {
    assert.deepEqual(names(sorted([quick, long, unknown], 'name')), ['another', 'long', 'quick']);
    assert.deepEqual(sorted([quick, long, unknown], 'file').map(({ file }) => file), ['a.cu', 'a.cu', 'b.cu']);
});

test('a summary has what is known: bottleneck, time, percent of roofline', () => {
    assert.equal(summary(quick.kernel), 'balanced · 12.3 µs · 88 % of roofline');
    assert.equal(summary(modelled.kernel), 'balanced · 3.10 µs to 5.36 µs (model)');
    assert.equal(summary(unknown.kernel), 'balanced');
});

test('details name the GPU and the evidence', () => {
    const bottleneck = { kind: 'bank-conflicts', headroom: 'high', evidence: [{ text: '32 wavefronts' }] };
    assert.deepEqual(details({ ...long.kernel, bottleneck }), [
        'bank-conflicts, high headroom',
        '4.20 ms, measured on NVIDIA H200',
        '32 wavefronts',
    ]);
});
