import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isProfile, memoryReport, profileReport } from '../../../editors/vscode/src/report';

const profile = {
    kernel: 'transpose',
    executor: 'emulator',
    launch: { grid: [32, 24, 1], block: [32, 32, 1], shared_bytes: 0 },
    metrics: { 'b.sum': 24_576_000, 'a.ratio': 31.00001 },
    hazards: [{ kind: 'race', line: 8, message: 'two threads write tile[0]' }],
    bottleneck: { kind: 'bank-conflicts', headroom: 'high', evidence: ['32 wavefronts a request', { text: 'line 15' }] },
};

test('a profile’s report names bottleneck, evidence, launch and hazards', () => {
    const text = profileReport(profile);
    assert.match(text, /\*\*Bottleneck: bank-conflicts\*\*, headroom high/);
    assert.match(text, /- 32 wavefronts a request\n- line 15/);
    assert.match(text, /grid 32 × 24 × 1, block 32 × 32 × 1/);
    assert.match(text, /line 9: \*\*race\*\*/);
});

test('metrics are sorted by name; whole numbers stay whole', () => {
    const text = profileReport(profile);
    assert.ok(text.indexOf('a.ratio') < text.indexOf('b.sum'));
    assert.match(text, /`b\.sum` \| 24,576,000 \|/);
    assert.match(text, /`a\.ratio` \| 31\.00 \|/);
});

test('a launch given as x, y, z reads the same as one given as a list', () => {
    const text = profileReport({ ...profile, launch: { grid: { x: 2, y: 3, z: 4 }, block: [1, 1, 1] } });
    assert.match(text, /grid 2 × 3 × 4/);
});

test('a profile with nothing but its kernel is still a report', () => {
    assert.equal(profileReport({ kernel: 'k' }).trim(), '# k');
});

test('only an object with a kernel is taken for a profile', () => {
    assert.ok(isProfile({ kernel: 'k' }));
    for (const other of [null, undefined, 'k', 7, [], {}, { kernel: 7 }]) assert.ok(!isProfile(other));
});

test('memory entries become rows, and cell separators in them do not break the table', () => {
    const text = memoryReport({
        file: 'a.cu',
        entries: [{ time: 't', kind: 'verdict', kernel: 'k', skill: 's', status: 'incorrect', detail: 'a | b\nc' }],
    });
    assert.match(text, /\| t \| verdict \| k \| s \| incorrect \| a \\\| b c \|/);
});

test('an empty memory says so', () => {
    assert.match(memoryReport({ file: 'a.cu', entries: [] }), /Nothing was tried/);
});
