import assert from 'node:assert/strict';
import { test } from 'node:test';

import { details, type Entry, filtered, grouped, type Kernel, severityOf, sorted, summary, totalOf } from '../../../editors/vscode/src/kernels/kernelList';

const start = { line: 5, character: 16 };

function kernel(name: string, changes: Partial<Kernel> = {}): Kernel {
    return {
        name,
        range: { start, end: start },
        selectionRange: { start, end: start },
        bottleneck: { kind: 'balanced', headroom: '', headroom_text: '', gain: null, evidence: [] },
        measured: null,
        roofline: null,
        program: null,
        ...changes,
    };
}

function entry(file: string, of: Kernel): Entry {
    return { uri: `file:///w/${file}`, file, kernel: of };
}

const quick = entry('b.cu', kernel('quick', { measured: { microseconds: 12.34, roofline_percent: 88.2, gpu: 'NVIDIA H200' } }));
const long = entry('a.cu', kernel('long', { measured: { microseconds: 4200, roofline_percent: 31, gpu: 'NVIDIA H200' } }));
const modelled = entry('c.cu', kernel('modelled', { roofline: { least_seconds: 3.1e-6, gpu: 'H200' } }));
const unknown = entry('a.cu', kernel('another'));

function names(entries: readonly Entry[]): string[] {
    return entries.map(({ kernel }) => kernel.name);
}

function bottleneck(headroom: string, factor?: number): Kernel['bottleneck'] {
    return {
        kind: 'bank-conflicts',
        headroom,
        headroom_text: factor === undefined ? `${headroom} headroom` : `${factor}× headroom`,
        gain: factor === undefined ? null : { at_most: factor },
        evidence: [{ text: '32 wavefronts' }],
    };
}

test('by share the longest comes first, measured or at least, and unknown times last', () => {
    assert.deepEqual(names(sorted([unknown, modelled, quick, long], 'share')), ['long', 'quick', 'modelled', 'another']);
});

test('what a program spends in its kernels comes before single launches', () => {
    const program = (share: number) => ({ name: 'small', share, microseconds: 1300 });
    const often = entry('d.cu', kernel('often', { program: program(0.6), measured: quick.kernel.measured }));
    const rare = entry('d.cu', kernel('rare', { program: program(0.4), measured: long.kernel.measured }));
    assert.deepEqual(names(sorted([long, rare, unknown, often], 'share')), ['often', 'rare', 'long', 'another']);
    assert.equal(summary(often.kernel, 5000), '60 % in small · balanced · 12.3 µs · 88 % of roofline');
    assert.ok(details(often.kernel).includes('60.0 % of GPU time, 1.30 ms in small'));
});

test('by headroom the tier decides, then the factor, and what is not known comes last', () => {
    const entries = [
        entry('a.cu', kernel('none', { bottleneck: bottleneck('none') })),
        unknown,
        entry('a.cu', kernel('eight', { bottleneck: bottleneck('high', 8) })),
        entry('a.cu', kernel('low', { bottleneck: bottleneck('low', 99) })),
        entry('a.cu', kernel('thirty', { bottleneck: bottleneck('high', 30) })),
    ];
    assert.deepEqual(names(sorted(entries, 'headroom')), ['thirty', 'eight', 'low', 'none', 'another']);
});

test('files are in the order of their first kernel, with their kernels below', () => {
    const groups = grouped([unknown, modelled, quick, long], 'share');
    assert.deepEqual(groups.map(({ file, entries }) => [file, ...names(entries)]), [
        ['a.cu', 'long', 'another'],
        ['b.cu', 'quick'],
        ['c.cu', 'modelled'],
    ]);
});

test('a filter takes each of its words from name, file or bottleneck', () => {
    const entries = [quick, long, entry('b.cu', kernel('padded', { bottleneck: bottleneck('high') }))];
    assert.deepEqual(names(filtered(entries, 'B.CU bank')), ['padded']);
    assert.deepEqual(names(filtered(entries, 'quick')), ['quick']);
    assert.deepEqual(names(filtered(entries, ' ')), ['quick', 'long', 'padded']);
});

test('the icon says how much there is to gain', () => {
    const of = (headroom: string) => severityOf(kernel('k', { bottleneck: bottleneck(headroom) }));
    assert.deepEqual(['high', 'medium', 'low', 'none'].map(of), ['high', 'medium', 'low', 'low']);
    assert.equal(severityOf(unknown.kernel), 'unknown');
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
    assert.equal(summary(quick.kernel, totalOf([quick, long, modelled])), 'balanced · 12.3 µs, 0 % of the time · 88 % of roofline');
    assert.equal(summary(modelled.kernel), 'balanced · at least 3.10 µs');
    assert.equal(summary(kernel('k', { bottleneck: bottleneck('high', 32) })), 'bank-conflicts · 32× headroom');
    assert.equal(summary(unknown.kernel), 'balanced');
});

test('details name the GPU and the evidence', () => {
    assert.deepEqual(details({ ...long.kernel, bottleneck: bottleneck('high') }), [
        'bank-conflicts, high headroom',
        '4.20 ms, measured on NVIDIA H200',
        '32 wavefronts',
    ]);
});
