// The server's archive: packed, unpacked, and what can come between.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

import { BundledServer } from '../../../editors/vscode/src/bundledServer';
import { digestsOf } from './digests';

const folder = mkdtempSync(path.join(tmpdir(), 'kernelskill-bundle-'));
after(() => rmSync(folder, { recursive: true }));

const tree = path.join(folder, 'tree');
const extension = path.join(folder, 'extension');
mkdirSync(path.join(tree, 'bin'), { recursive: true });
mkdirSync(path.join(tree, 'lib', 'a'.repeat(90), 'b'.repeat(90)), { recursive: true });
mkdirSync(extension);
writeFileSync(path.join(tree, 'bin/kernelskill'), '#!/bin/sh\necho kernelskill 0.1.0\n', { mode: 0o755 });
writeFileSync(path.join(tree, 'lib', 'a'.repeat(90), 'b'.repeat(90), 'häder.h'), 'a long path, and a name that is not ASCII\n');
writeFileSync(path.join(tree, 'lib/empty'), '');
// Some that can be compressed and much that cannot, beyond the window of the compression.
writeFileSync(path.join(tree, 'lib/large'), Buffer.concat([Buffer.alloc(20 << 20, 'kernel'), pseudorandom(1 << 20)]));
symlinkSync('large', path.join(tree, 'lib/link'));
execFileSync(process.execPath, [path.join(process.env['KERNELSKILL_TEST_ROOT']!, 'editors/vscode/pack-server.mjs'), tree, extension]);

function pseudorandom(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let i = 0, state = 1; i < length; ++i) bytes[i] = (state = (state * 48271) % 2147483647) >> 8;
    return bytes;
}

let storages = 0;
function storage(): string {
    return path.join(folder, `storage-${++storages}`);
}

const silent = () => undefined;
const bundledIn = (place: string, version = '0.1.0') => BundledServer.of(extension, place, version)!;

test('an extension without an archive has no server', () => {
    assert.equal(BundledServer.of(tree, storage(), '0.1.0'), undefined);
});

test('every file comes out as it went in, and the progress goes from 0 to 1', async () => {
    const place = storage();
    const bundled = bundledIn(place);
    assert.equal(bundled.isUnpacked(), false);
    const parts: number[] = [];
    await bundled.unpack((part) => parts.push(part));
    assert.equal(bundled.isUnpacked(), true);
    const unpacked = path.join(bundled.executable, '../..');
    assert.deepEqual(digestsOf(unpacked), digestsOf(tree));
    assert.equal(execFileSync(bundled.executable, { encoding: 'utf8' }), 'kernelskill 0.1.0\n');
    assert.deepEqual(parts, [...parts].sort((a, b) => a - b));
    assert.equal(parts.at(-1), 1);
    assert.deepEqual(readdirSync(place), [path.basename(unpacked)]);
});

test('two windows may unpack at once', async () => {
    const place = storage();
    const [first, second] = [bundledIn(place), bundledIn(place)];
    await Promise.all([first.unpack(silent), second.unpack(silent)]);
    assert.deepEqual(digestsOf(path.join(first.executable, '../..')), digestsOf(tree));
    assert.equal(readdirSync(place).length, 1);
});

test('what an interrupted unpacking left is never taken for the server, and is removed when it is old', async () => {
    const place = storage();
    const bundled = bundledIn(place);
    for (const name of ['partial-old', 'partial-another-window']) {
        mkdirSync(path.join(place, name, 'tree/bin'), { recursive: true });
        writeFileSync(path.join(place, name, 'tree/bin/kernelskill'), 'half');
    }
    utimesSync(path.join(place, 'partial-old'), 0, 0);
    assert.equal(bundled.isUnpacked(), false);
    await bundled.unpack(silent);
    assert.deepEqual(readdirSync(place).filter((name) => name.startsWith('partial')), ['partial-another-window']);
});

test('another version is removed, unless it runs', async () => {
    const place = storage();
    const [old, used] = [bundledIn(place, '0.0.1'), bundledIn(place, '0.0.2')];
    await old.unpack(silent);
    await used.unpack(silent);
    const sleep = path.join(used.executable, '../sleep');
    writeFileSync(sleep, readFileSync('/bin/sleep'), { mode: 0o755 });
    const running = spawn(sleep, ['60']);
    await new Promise((resolve) => running.once('spawn', resolve));
    try {
        const bundled = bundledIn(place);
        await bundled.unpack(silent);
        await bundled.removeOthers();
        assert.deepEqual([old, used, bundled].map((each) => each.isUnpacked()), [false, true, true]);
        await used.discard();
        assert.equal(used.isUnpacked(), true);
        await bundled.discard();
        assert.equal(bundled.isUnpacked(), false);
    } finally {
        running.kill();
    }
});

/** That it fails so, and leaves nothing. */
async function fails(bundled: BundledServer, place: string, message: RegExp, freeBytes?: () => Promise<number>): Promise<void> {
    await assert.rejects(bundled.unpack(silent, freeBytes), (error: Error) => {
        assert.match(error.message, message);
        assert.match(error.message, /kernelskill\.server\.path/);
        return true;
    });
    assert.equal(bundled.isUnpacked(), false);
    assert.deepEqual(readdirSync(place), []);
}

test('a disk without room is named before anything is written', async () => {
    const place = storage();
    await fails(bundledIn(place), place, /takes 22 MiB in .*storage.*, where 1 MiB are left\. Make room/, () => Promise.resolve(1 << 20));
});

test('a tar that is missing, or gives up, is named', async () => {
    const place = storage();
    const [none, bad] = [path.join(folder, 'no-tar'), path.join(folder, 'bad-tar')];
    mkdirSync(none);
    mkdirSync(bad);
    writeFileSync(path.join(bad, 'tar'), '#!/bin/sh\necho "tar: ./lib/large: Cannot write: No space left on device" >&2\nexit 2\n');
    chmodSync(path.join(bad, 'tar'), 0o755);
    const before = process.env['PATH'];
    try {
        process.env['PATH'] = none;
        await fails(bundledIn(place), place, /tar does not start.*Install tar/);
        process.env['PATH'] = bad;
        await fails(bundledIn(place), place, /could not be unpacked in .*No space left on device\. Mend that/);
    } finally {
        process.env['PATH'] = before;
    }
});

test('a damaged archive is named: one that ends early, and one with other bytes', async () => {
    const damaged = path.join(folder, 'damaged');
    const place = storage();
    execFileSync('cp', ['-r', extension, damaged]);
    const archive = path.join(damaged, 'server.tar.br');
    const bytes = readFileSync(archive);
    truncateSync(archive, Math.floor(bytes.length / 2));
    await fails(BundledServer.of(damaged, place, '0.1.0')!, place, /server\.tar\.br is damaged\. Install the extension again/);

    const at = bytes.length - 1000; // what cannot be compressed is stored as it is: brotli sees no fault there
    bytes[at] = bytes[at]! ^ 1;
    writeFileSync(archive, bytes);
    await fails(BundledServer.of(damaged, place, '0.1.0')!, place, /server\.tar\.br is damaged/);

    rmSync(archive);
    await fails(BundledServer.of(damaged, place, '0.1.0')!, place, /server\.tar\.br is damaged/);
    assert.equal(existsSync(archive), false);
});
