import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';

import { findServer, type Surroundings, versionProblem } from '../../../editors/vscode/src/binary';

function surroundings(executables: string[], changes: Partial<Surroundings> = {}): Surroundings {
    return {
        setting: '',
        pathVariable: ['/usr/bin', '/opt/ks/bin'].join(path.delimiter),
        home: '/home/u',
        bundled: '/storage/server/bin/kernelskill',
        isExecutable: (file) => executables.includes(file),
        ...changes,
    };
}

test('the setting wins over PATH and the bundled server', () => {
    const all = ['/mine/kernelskill', '/usr/bin/kernelskill'];
    assert.deepEqual(findServer(surroundings(all, { setting: '/mine/kernelskill' })), {
        kind: 'found',
        file: '/mine/kernelskill',
        origin: 'setting',
    });
});

test('a setting that names no executable is reported and not replaced by a guess', () => {
    const found = findServer(surroundings(['/usr/bin/kernelskill'], { setting: '/gone/kernelskill' }));
    assert.equal(found.kind, 'missing');
    assert.match(found.kind === 'missing' ? found.problem : '', /\/gone\/kernelskill/);
});

test('a tilde in the setting is the home folder', () => {
    const found = findServer(surroundings(['/home/u/bin/kernelskill'], { setting: '~/bin/kernelskill' }));
    assert.equal(found.kind === 'found' && found.file, '/home/u/bin/kernelskill');
});

test('PATH is searched in order, before the bundled server', () => {
    const found = findServer(surroundings(['/opt/ks/bin/kernelskill']));
    assert.deepEqual(found, { kind: 'found', file: '/opt/ks/bin/kernelskill', origin: 'PATH' });
});

test('the bundled server is the last resort, be it unpacked or not', () => {
    const found = findServer(surroundings([]));
    assert.deepEqual(found, { kind: 'found', file: '/storage/server/bin/kernelskill', origin: 'bundled' });
});

test('empty and relative entries of PATH are not searched: they would run a file of the workspace', () => {
    const pathVariable = ['', '.', 'bin'].join(path.delimiter);
    const found = findServer(surroundings(['kernelskill', 'bin/kernelskill', './kernelskill'], { pathVariable, bundled: undefined }));
    assert.equal(found.kind, 'missing');
});

test('with no server at all the message says what to do', () => {
    const found = findServer(surroundings([], { bundled: undefined }));
    assert.match(found.kind === 'missing' ? found.problem : '', /script\/demo.*kernelskill\.server\.path/);
});

test('a server of another minor version is named, with the remedy', () => {
    const found = { kind: 'found', file: '/usr/bin/kernelskill', origin: 'PATH' } as const;
    assert.equal(versionProblem('kernelskill 0.1.7', '0.1.0', found), '');
    assert.match(versionProblem('kernelskill 0.3.0', '0.1.0', found), /\/usr\/bin\/kernelskill .*0\.3\.0.*0\.1\.0.*Install the same version/);
    assert.notEqual(versionProblem('', '0.1.0', found), '');
});
