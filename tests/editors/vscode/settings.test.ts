import assert from 'node:assert/strict';
import { test } from 'node:test';

import { serverSettings } from '../../../editors/vscode/src/settings';

test('the server gets its areas and not the client’s', () => {
    const section = { server: { path: '/x' }, trace: { server: 'off' }, parse: { cudaPath: '/cuda' } };
    assert.deepEqual(serverSettings(section, true), { parse: { cudaPath: '/cuda' } });
});

test('a trusted workspace keeps the user’s choice about running kernels', () => {
    assert.deepEqual(serverSettings({ execution: { enabled: true } }, true), { execution: { enabled: true } });
    assert.deepEqual(serverSettings({ execution: { enabled: false } }, true), { execution: { enabled: false } });
});

test('in an untrusted workspace nothing runs, whatever the settings say', () => {
    const section = { execution: { enabled: true, hostCompiler: '/usr/bin/g++' } };
    assert.deepEqual(serverSettings(section, false), {
        execution: { enabled: false, hostCompiler: '/usr/bin/g++' },
    });
    assert.deepEqual(serverSettings({}, false), { execution: { enabled: false } });
    assert.deepEqual(serverSettings({ execution: 'nonsense' }, false), { execution: { enabled: false } });
});

test('the settings object of the editor is not changed', () => {
    const section = { execution: { enabled: true } };
    serverSettings(section, false);
    assert.equal(section.execution.enabled, true);
});
