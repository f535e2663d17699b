import assert from 'node:assert/strict';
import { test } from 'node:test';

import { candidatesOf, type Optimization, type Round, textOf } from '../../../editors/vscode/src/views/candidates';
import { patched } from '../../../editors/vscode/src/views/unifiedDiff';

const text = 'one\ntwo\nthree\nfour\n';
const first = '--- a/k.cu\n+++ b/k.cu\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n';
const second = '--- a/k.cu\n+++ b/k.cu\n@@ -2,3 +2,4 @@\n TWO\n three\n+and a half\n four\n';

test('a diff is applied to the text that it was made for, and to no other', () => {
    assert.equal(patched(text, first), 'one\nTWO\nthree\nfour\n');
    assert.equal(patched(patched(text, first)!, second), 'one\nTWO\nthree\nand a half\nfour\n');
    assert.equal(patched(text, second), undefined);
    assert.equal(patched('other\n', first), undefined);
});

test('several hunks, insertions at an end and files without a last newline are applied', () => {
    const hunks = '--- a\n+++ b\n@@ -0,0 +1 @@\n+zero\n@@ -4 +5,2 @@\n four\n+five\n';
    assert.equal(patched(text, hunks), 'zero\none\ntwo\nthree\nfour\nfive\n');
    const cut = '--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n';
    assert.equal(patched('x', cut), 'y');
});

test('a diff of two files, or one that is cut short, is refused', () => {
    assert.equal(patched(text, first + first), undefined);
    assert.equal(patched(text, first.slice(0, first.indexOf(' three'))), undefined);
});

function round(number: number, changes: Partial<Round> = {}): Round {
    return {
        round: 1,
        number,
        from: 0,
        plan: { skill: `skill-${number}`, title: 't' },
        verdict: { status: 'unmeasured' },
        sum: null,
        kept: false,
        version: null,
        decision: '',
        diff: first,
        ...changes,
    };
}

const found: Optimization = {
    kernel: 'k',
    rounds: [
        round(1, { kept: true, version: 1 }),
        round(2, { verdict: { status: 'incorrect' } }),
        round(3, { round: 2, from: 1, kept: true, version: 2, diff: second }),
        round(4, { round: 2, from: 1, diff: first }),
        round(5, { verdict: null, diff: '' }),
    ],
    best: { improved: true, skills: ['skill-1', 'skill-3'] },
    stop: { reason: 'no-plan-left', text: '' },
    applied: false,
};

test('a candidate’s text has the edits that it stands on', () => {
    assert.equal(textOf(found, 1, text), 'one\nTWO\nthree\nfour\n');
    assert.equal(textOf(found, 3, text), 'one\nTWO\nthree\nand a half\nfour\n');
});

test('what is wrong, unchecked, or for another text cannot be taken', () => {
    const obstacles = candidatesOf(found, text).map(({ obstacle }) => obstacle);
    assert.deepEqual(
        obstacles.map((obstacle) => obstacle.split(/[ :]/).slice(0, 3).join(' ')),
        ['', 'It is wrong', '', 'It edits more', 'It was not'],
    );
});

test('the best is the candidate that ends the path of its skills', () => {
    assert.deepEqual(candidatesOf(found, text).filter(({ isBest }) => isBest).map(({ number }) => number), [3]);
});
