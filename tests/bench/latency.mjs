// Drives two language servers alternately on the same file and compares what a user waits for.
// Called by script/bench-latency, which documents the arguments.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { LspClient } from './lsp_client.mjs';
import { writeSection } from './report_section.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
    options: {
        server: { type: 'string' },
        clangd: { type: 'string', default: 'clangd-22' },
        prelude: { type: 'string', default: '' },
        rounds: { type: 'string', default: '5' },
        edits: { type: 'string', default: '40' },
        'no-toolkit': { type: 'boolean', default: false },
        write: { type: 'string', default: '' },
        invocation: { type: 'string', default: '' },
    },
});
const rounds = Number(options.rounds);
const edits = Number(options.edits);
const source = path.join(here, 'latency_600.cu');
const text = readFileSync(source, 'utf8');
const lines = text.split('\n');

/** Flags for both servers, as a project would have them in compile_flags.txt. */
function compileFlags() {
    const toolkit = [process.env.CUDA_HOME, process.env.CUDA_PATH, '/usr/local/cuda'].find(
        (directory) => directory && existsSync(path.join(directory, 'include/cuda_runtime.h')),
    );
    const common = ['-xcuda', '-std=c++20', '--cuda-gpu-arch=sm_90', '-Wno-unknown-cuda-version'];
    if (toolkit && !options['no-toolkit']) {
        const flags = [...common, `--cuda-path=${toolkit}`, '-isystem', `${toolkit}/include/cccl`];
        return { name: `CUDA toolkit ${toolkitVersion(toolkit)}`, flags, clangdOnly: [] };
    }
    // clangd has no CUDA headers of its own: it gets ours, so that both see the same declarations.
    const clangdOnly = ['-nocudainc', '-nocudalib', '--cuda-path=/nonexistent'];
    clangdOnly.push('-isystem', options.prelude, '-include', path.join(options.prelude, 'prelude.h'));
    return { name: 'no CUDA toolkit', flags: common, clangdOnly };
}

function toolkitVersion(toolkit) {
    try {
        return JSON.parse(readFileSync(path.join(toolkit, 'version.json'), 'utf8')).cuda.version;
    } catch {
        return '(unknown version)';
    }
}

/** Places a reader points at: names of kernels, then identifiers in the kernels' bodies, spread over the file. */
function places() {
    const found = [];
    lines.forEach((line, number) => {
        if (number > 480) return; // host side
        for (const match of line.matchAll(/[A-Za-z_]\w+(?=\[|\()/g)) found.push({ line: number, character: match.index + 1 });
    });
    const step = Math.max(1, Math.floor(found.length / 100));
    return found.filter((_, index) => index % step === 0);
}

const milliseconds = (from) => Number(process.hrtime.bigint() - from) / 1e6;
const pause = (duration) => new Promise((resolve) => setTimeout(resolve, duration));

function quantile(values, q) {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)];
}

/** One session with one server: what a user does in a minute, timed. */
async function session(subject, flags) {
    const workspace = mkdtempSync(path.join(tmpdir(), 'kernelskill-latency-'));
    try {
        const file = path.join(workspace, 'layer.cu');
        copyFileSync(source, file);
        writeFileSync(path.join(workspace, 'compile_flags.txt'), [...flags, ...subject.flags].join('\n') + '\n');
        const uri = pathToFileURL(file).href;

        const began = process.hrtime.bigint();
        const client = new LspClient(subject.command, subject.args, { cwd: workspace });
        await client.request('initialize', {
            initializationOptions: { trusted: true },
            processId: process.pid,
            rootUri: pathToFileURL(workspace).href,
            capabilities: {
                textDocument: {
                    publishDiagnostics: { versionSupport: true },
                    hover: { contentFormat: ['markdown', 'plaintext'] },
                    codeAction: {
                        codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix', 'refactor'] } },
                        resolveSupport: { properties: ['edit'] },
                        dataSupport: true,
                    },
                },
            },
        });
        client.notify('initialized', {});
        let version = 1;
        const first = client.diagnostics(uri, version);
        client.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'cuda', version, text } });
        const isError = (diagnostic) => diagnostic.severity === 1;
        const baseline = (await first).filter(isError).length;
        const result = { firstDiagnostics: milliseconds(began), baseline, edit: [], hover: [], codeAction: [] };

        // Typing: a name in a kernel's body is misspelled and corrected, a different kernel each time.
        const bodies = lines.flatMap((line, number) => {
            const at = line.indexOf('threadIdx.x;');
            return at >= 0 && number < 480 ? [{ line: number, character: at }] : [];
        });
        for (let i = 0; i < edits; ++i) {
            const at = bodies[Math.floor(i / 2) % bodies.length];
            const breaks = i % 2 === 0;
            const end = { ...at, character: at.character + (breaks ? 0 : 1) };
            const published = client.diagnostics(uri, ++version);
            const sent = process.hrtime.bigint();
            client.notify('textDocument/didChange', {
                textDocument: { uri, version },
                contentChanges: [{ range: { start: at, end }, text: breaks ? 'q' : '' }],
            });
            const errors = (await published).filter(isError).length;
            result.edit.push(milliseconds(sent));
            if (breaks ? errors <= baseline : errors !== baseline) {
                throw new Error(`${subject.name}: ${errors} errors (${baseline} at first) after edit ${i}: not the truth`);
            }
            await pause(30); // a fast typist's gap between two keys
        }

        for (const position of places()) {
            const textDocument = { uri };
            let sent = process.hrtime.bigint();
            await client.request('textDocument/hover', { textDocument, position });
            result.hover.push(milliseconds(sent));
            sent = process.hrtime.bigint();
            const range = { start: position, end: position };
            await client.request('textDocument/codeAction', { textDocument, range, context: { diagnostics: [] } });
            result.codeAction.push(milliseconds(sent));
        }
        result.resident = client.residentMiB();
        await client.stop();
        return result;
    } finally {
        rmSync(workspace, { recursive: true, force: true });
    }
}

const { name: mode, flags, clangdOnly } = compileFlags();
const subjects = [
    { name: 'clangd', command: options.clangd, args: ['--log=error'], flags: clangdOnly },
    {
        name: 'kernelskill',
        command: options.server,
        args: options['no-toolkit'] ? ['--no-toolkit', 'lsp'] : ['lsp'],
        flags: [],
    },
];
const measures = [
    ['start to first diagnostics (ms)', (r) => r.firstDiagnostics],
    ['edit to diagnostics, p50 (ms)', (r) => quantile(r.edit, 0.5)],
    ['edit to diagnostics, p95 (ms)', (r) => quantile(r.edit, 0.95)],
    ['hover, p50 (ms)', (r) => quantile(r.hover, 0.5)],
    ['hover, p95 (ms)', (r) => quantile(r.hover, 0.95)],
    ['code action, p50 (ms)', (r) => quantile(r.codeAction, 0.5)],
    ['code action, p95 (ms)', (r) => quantile(r.codeAction, 0.95)],
    ['resident memory at the end (MiB)', (r) => r.resident],
];

const results = { clangd: [], kernelskill: [] };
for (let round = 0; round < rounds; ++round) {
    // Who goes first changes, so that neither always meets the warmer caches.
    for (const subject of round % 2 === 0 ? subjects : [...subjects].reverse()) {
        process.stderr.write(`round ${round + 1} of ${rounds}: ${subject.name}\n`);
        results[subject.name].push(await session(subject, flags));
    }
}

const digits = (value) => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
const spread = (values) =>
    `${digits(quantile(values, 0.5))} (${digits(Math.min(...values))} to ${digits(Math.max(...values))})`;
const versionOf = (command) => execFileSync(command, ['--version'], { encoding: 'utf8' }).split('\n')[0].trim();

const rows = measures.map(([name, read]) => {
    const theirs = results.clangd.map(read);
    const ours = results.kernelskill.map(read);
    return `| ${name} | ${spread(theirs)} | ${spread(ours)} | ${spread(ours.map((value, i) => value / theirs[i]))} |`;
});
const errors = (name) => results[name][0].baseline;
const report = `Both servers open the same ${lines.length - 1}-line file (\`tests/bench/latency_600.cu\`, which includes
\`cooperative_groups.h\`), alternately, ${rounds} rounds, each in a fresh process and workspace with the same
\`compile_flags.txt\`. A round opens the file, makes ${edits} incremental edits that break and mend a kernel (each waits
for the diagnostics of its version, and their truth is checked), then asks for hover and code actions at
${places().length} places. Each figure is the median over the rounds, with the least and the greatest; ratios are per round.

| measure | clangd | kernelskill | ratio |
|---|---:|---:|---:|
${rows.join('\n')}

False errors in the unbroken file: clangd ${errors('clangd')}, kernelskill ${errors('kernelskill')}.

| | |
|---|---|
| machine | ${cpus()[0].model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB |
| parsed with | ${mode} |
| clangd | ${versionOf(options.clangd)} |
| kernelskill | ${versionOf(options.server)} |
| date | ${new Date().toISOString().slice(0, 10)} |
| command | \`${options.invocation}\` |

clangd waits 50 ms or more after a key stroke before it parses (its debounce, which it adapts to the time a parse takes);
that wait is in its figure, as it is in what its user sees.
`;
process.stdout.write(report);
if (options.write) writeSection(options.write, 'Latency', 'Beside clangd', report);
