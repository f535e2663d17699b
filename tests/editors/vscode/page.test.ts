// How tables of a report are sorted.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { valueOf } from '../../../editors/vscode/src/webview/page';

test('a cell is the number that it begins with, in one unit', () => {
    assert.equal(valueOf('24,576'), 24576);
    assert.equal(valueOf('87.5 %'), 87.5);
    assert.equal(valueOf('at least 3.1 µs'), 3.1e-6);
    assert.equal(valueOf('1.2 ms'), 1.2e-3);
    assert.equal(valueOf('3.5 GB'), 3.5e9);
    assert.equal(valueOf('256 (now)'), 256);
});

test('a text is none', () => {
    assert.equal(valueOf('bank-conflicts'), undefined);
    assert.equal(valueOf(''), undefined);
});
