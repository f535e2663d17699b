// The packaged extension, and its manifest against what it is made from.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { commandNames } from '../../../editors/vscode/src/manifest';

// Set by tests/editors/vscode/run.
const root = process.env['KERNELSKILL_TEST_ROOT']!;
const server = process.env['KERNELSKILL_TEST_SERVER']!;
const extension = path.join(root, 'editors/vscode');
const manifest = JSON.parse(readFileSync(path.join(extension, 'package.json'), 'utf8'));

/** Names of the files in a zip archive, out of its central directory. */
function filesOf(archive: Buffer): string[] {
    const endRecord = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
    const count = archive.readUInt16LE(endRecord + 10);
    let at = archive.readUInt32LE(endRecord + 16);
    const names: string[] = [];
    for (let i = 0; i < count; ++i) {
        const [name, extra, comment] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset)) as [
            number,
            number,
            number,
        ];
        names.push(archive.toString('utf8', at + 46, at + 46 + name));
        at += 46 + name + extra + comment;
    }
    return names.sort();
}

test('the .vsix holds the bundle, the licences, the manifest and the read-me, and no source', () => {
    const names = filesOf(readFileSync(path.join(extension, 'kernelskill.vsix')))
        .filter((name) => name.startsWith('extension/'))
        .map((name) => name.slice('extension/'.length).toLowerCase())
        .sort();
    const media = ['kernels.svg', 'walkthrough/apply.md', 'walkthrough/measure.md', 'walkthrough/open.md', 'walkthrough/optimize.md'];
    assert.deepEqual(names, [
        'dist/extension.js',
        'dist/main.js',
        'dist/third-party-licenses.txt',
        'dist/webview.js',
        'license.txt',
        ...media.map((name) => `media/${name}`),
        'package.json',
        'readme.md',
    ]);
});

test('the manifest’s commands are those that the extension knows', () => {
    const contributed = (manifest.contributes.commands as { command: string }[]).map(({ command }) => command);
    assert.deepEqual(contributed.sort(), commandNames.map((name) => `kernelskill.client.${name}`).sort());
});

test('settings that name programs or their flags are withheld from untrusted workspaces', () => {
    const restricted: string[] = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
    for (const name of Object.keys(manifest.contributes.configuration.properties)) {
        if (/path|arguments|compiler|flags|database|execution/i.test(name)) {
            assert.ok(restricted.includes(name), `${name} is not restricted`);
        }
    }
    for (const name of restricted) assert.ok(name in manifest.contributes.configuration.properties, name);
});

test('settings and their page agree with the server’s table', () => {
    execFileSync(path.join(root, 'script/sync-configuration'), [server, '--check'], { stdio: 'pipe' });
});
