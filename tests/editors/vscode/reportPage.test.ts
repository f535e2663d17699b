import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dressed } from '../../../editors/vscode/src/views/reportPage';

const dressing = { nonce: 'n1', style: ':root{--x:$&}', script: 'https://w/dist/webview.js' };
const page =
    '<!DOCTYPE html><html lang="en"><head><meta http-equiv="Content-Security-Policy" ' +
    'content="default-src \'none\'; style-src \'unsafe-inline\'"><title>t</title></head><body><main>m</main></body></html>';

test('the server’s page gets our policy, colours and script, and keeps its text', () => {
    const html = dressed(page, dressing);
    assert.equal(html.match(/Content-Security-Policy/g)?.length, 1);
    assert.match(html, /script-src 'nonce-n1'/);
    assert.match(html, /<style>:root\{--x:\$&\}<\/style><\/head><body data-view="page"><main>m<\/main>/);
    assert.match(html, /<script nonce="n1" src="https:\/\/w\/dist\/webview\.js"><\/script><\/body>/);
});

test('a page without the server’s policy is refused: it could do anything', () => {
    assert.throws(() => dressed('<html><body></body></html>', dressing));
});
