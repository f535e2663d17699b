// What a user waits for a profile of a tiled 256 x 256 matrix product: cold (nothing compiled, nothing counted),
// asked for again, and in a new process; and for the hover that shows it.
//
// usage: node tests/bench/profile_latency.mjs SERVER [ROUNDS]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { LspClient } from './lsp_client.mjs';

const [server, rounds = '3'] = process.argv.slice(2);
const kernel = readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), 'tiled_256.cu'), 'utf8');
const line = kernel.split('\n').findIndex((text) => text.includes('__global__'));
const position = { line, character: kernel.split('\n')[line].indexOf('product') + 1 };
const waits = {};

async function timed(name, work) {
    const began = performance.now();
    const result = await work();
    (waits[name] ??= []).push(performance.now() - began);
    return result;
}

/** One life of the editor: opens the file, asks for a profile, hovers, and asks again. */
async function session(folder, prefix) {
    const file = path.join(folder, 'tiled.cu');
    writeFileSync(file, kernel);
    const uri = pathToFileURL(file).href;
    const client = new LspClient(server, ['lsp'], {
        cwd: folder,
        env: { ...process.env, XDG_CACHE_HOME: path.join(folder, 'cache'), XDG_DATA_HOME: path.join(folder, 'data') },
    });
    await client.request('initialize', { processId: null, rootUri: pathToFileURL(folder).href, capabilities: {} });
    client.notify('initialized', {});
    const ready = client.diagnostics(uri, 1);
    client.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'cuda', version: 1, text: kernel } });
    await ready;
    const document = { textDocument: { uri }, position };
    const hover = async (name) => (await timed(name, () => client.request('textDocument/hover', document))).contents.value;
    await hover('hover before any profile');
    const profile = await timed(`${prefix} profile`, () => client.request('kernelskill/profile', document));
    if (profile.executor !== 'emulator') throw new Error(`profiled on ${profile.executor}`);
    const text = await hover('hover with the profile');
    if (!/[Cc]ounted/.test(text)) throw new Error(`the hover shows no counts:\n${text}`);
    await timed('profile asked for again', () => client.request('kernelskill/profile', document));
    await client.stop();
}

for (let round = 0; round < Number(rounds); ++round) {
    const folder = mkdtempSync(path.join(tmpdir(), 'kernelskill-bench-'));
    try {
        await session(folder, 'cold');
        await session(folder, 'new process,');
    } finally {
        rmSync(folder, { recursive: true });
    }
}
for (const [name, times] of Object.entries(waits)) {
    const sorted = times.slice().sort((a, b) => a - b);
    const middle = sorted[Math.floor(sorted.length / 2)];
    console.log(`| ${name} | ${middle.toFixed(1)} | ${sorted[0].toFixed(1)} to ${sorted.at(-1).toFixed(1)} |`);
}
