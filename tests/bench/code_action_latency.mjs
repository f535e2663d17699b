// Times code actions at every line of a file of about 1,000 lines that every built-in skill finds something in: the
// `before.cu` of each, then further kernels of the repository. Called by script/bench-latency, which documents the
// arguments. Exit status 1: the 95th percentile is above what is promised.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { LspClient } from './lsp_client.mjs';
import { writeSection } from './report_section.mjs';

const promised = 10; // ms
const wantedLines = 1000;
const { values: options } = parseArgs({
    options: {
        server: { type: 'string' },
        write: { type: 'string', default: '' },
        invocation: { type: 'string', default: '' },
        source: { type: 'string', default: '' }, // where to leave the file that is measured
    },
});
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** The CUDA files of the repository in the order that the measured file takes them. */
function sources() {
    const below = (folder) => readdirSync(path.join(root, folder)).map((name) => path.join(root, folder, name));
    const examples = below('skills').map((folder) => path.join(folder, 'before.cu'));
    return [...examples, ...below('examples/bottlenecks'), ...below('examples/naive')].filter(
        (file) => file.endsWith('.cu') && existsSync(file),
    );
}

/** Whole files, each in a namespace of its own, until there are lines enough. */
function compose() {
    const includes = new Set();
    const parts = [];
    let lines = 0;
    for (const [index, file] of sources().entries()) {
        if (lines >= wantedLines) break;
        const kept = [];
        const macros = [];
        for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
            if (/^\s*#\s*include/.test(line)) {
                includes.add(line.trim());
                continue;
            }
            const macro = /^\s*#\s*define\s+(\w+)/.exec(line);
            if (macro) macros.push(`#undef ${macro[1]}`);
            kept.push(line);
        }
        const part = [`namespace file${index} {`, ...kept, `} // namespace file${index}`, ...macros, ''];
        lines += part.length;
        parts.push(...part);
    }
    return [...includes, '', ...parts].join('\n');
}

/** In the kernels, every line at its first character and every name that is called or indexed. Outside is nothing to do. */
function cursors(lines) {
    let isInside = false;
    return lines.flatMap((line, number) => {
        isInside ||= line.includes('__global__');
        if (!isInside) return [];
        isInside = line !== '}';
        const names = [...line.matchAll(/[A-Za-z_]\w+(?=\[|\()/g)].map((match) => match.index + 1);
        return [Math.max(0, line.search(/\S/)), ...names].map((character) => ({ line: number, character }));
    });
}

function quantile(values, q) {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)];
}

async function measure(text) {
    const folder = mkdtempSync(path.join(tmpdir(), 'kernelskill-code-actions-'));
    const file = path.join(folder, 'library.cu');
    writeFileSync(file, text);
    const uri = pathToFileURL(file).href;
    const client = new LspClient(options.server, ['lsp'], {
        cwd: folder,
        env: { ...process.env, XDG_DATA_HOME: path.join(folder, 'data'), XDG_CACHE_HOME: path.join(folder, 'cache') },
    });
    await client.request('initialize', {
        initializationOptions: { trusted: true },
        processId: process.pid,
        rootUri: pathToFileURL(folder).href,
        capabilities: {
            textDocument: {
                codeAction: {
                    codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix', 'refactor', 'source'] } },
                    resolveSupport: { properties: ['edit'] },
                    dataSupport: true,
                },
            },
        },
    });
    client.notify('initialized', {});
    const ready = client.diagnostics(uri, 1);
    client.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'cuda', version: 1, text } });
    const errors = (await ready).filter((diagnostic) => diagnostic.severity === 1).map((diagnostic) => diagnostic.message);

    // Some skills ask what the GPU's compiler said, which a profile leaves behind.
    const lenses = await client.request('textDocument/codeLens', { textDocument: { uri } });
    const kernels = new Set(lenses.map((lens) => lens.data?.kernel ?? lens.command?.arguments?.[0]?.kernel));
    for (const kernel of kernels)
        await client
            .request('workspace/executeCommand', { command: 'kernelskill.profile', arguments: [{ uri, kernel }] })
            .catch((error) => console.error(`${kernel} has no profile: ${error.message}`));

    const skills = new Set();
    let offered = 0;
    const pass = async () => {
        const waits = [];
        for (const position of cursors(text.split('\n'))) {
            const began = performance.now();
            const actions = await client.request('textDocument/codeAction', {
                textDocument: { uri },
                range: { start: position, end: position },
                context: { diagnostics: [] },
            });
            waits.push({ wait: performance.now() - began, line: position.line + 1 });
            const kinds = actions.map(({ kind }) => kind).filter((kind) => kind.startsWith('refactor.rewrite.'));
            kinds.forEach((kind) => skills.add(kind.slice('refactor.rewrite.'.length)));
            offered += kinds.length;
        }
        return waits;
    };
    const first = await pass();
    offered = 0;
    const again = await pass();
    await client.stop();
    rmSync(folder, { recursive: true, force: true });
    return { errors, kernels: kernels.size, first, again, skills, offered };
}

const text = compose();
if (options.source) writeFileSync(options.source, text);
const loadBefore = loadavg()[0];
const { errors, kernels, first, again, skills, offered } = await measure(text);
const ms = (value) => value.toFixed(2);
const row = (name, all) => {
    const waits = all.map(({ wait }) => wait);
    const slowest = all.reduce((a, b) => (b.wait > a.wait ? b : a));
    const columns = [quantile(waits, 0.5), quantile(waits, 0.95), quantile(waits, 0.99), slowest.wait].map(ms);
    return `| ${name} | ${waits.length} | ${columns.join(' | ')} | ${slowest.line} |`;
};
const builtIn = JSON.parse(execFileSync(options.server, ['skills', '--json'], { encoding: 'utf8' })).length;
const report = `One server with the ${builtIn} built-in skills opens a file of ${text.split('\n').length - 1} lines and ${kernels} kernels: the
\`before.cu\` of each skill, then kernels of \`examples/\`, each in a namespace (\`tests/bench/code_action_latency.mjs\` makes it).
Each kernel is profiled, so that the skills that ask for compiled facts have them. Then a client asks for code actions at
the start of every line of the kernels and at every name there that is called or indexed, and waits for each answer; all of
that twice. ${skills.size} skills were offered; of the second pass's answers, ${(offered / again.length).toFixed(1)}
actions of skills each on average. Errors in the file: ${errors.length}.

| pass | requests | p50 (ms) | p95 (ms) | p99 (ms) | most (ms) | at line |
|---|---:|---:|---:|---:|---:|---:|
${row('first', first)}
${row('again', again)}

| | |
|---|---|
| machine | ${cpus()[0].model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB |
| load average before and after | ${loadBefore.toFixed(1)}, ${loadavg()[0].toFixed(1)} |
| kernelskill | ${execFileSync(options.server, ['--version'], { encoding: 'utf8' }).trim()} |
| date | ${new Date().toISOString().slice(0, 10)} |
| command | \`${options.invocation}\` |
`;
process.stdout.write(report);
errors.forEach((message) => console.error(`error in the measured file: ${message}`));
if (options.write) writeSection(options.write, 'Latency', 'Code actions with the whole library', report);
if (quantile(again.map(({ wait }) => wait), 0.95) > promised || errors.length > 0) process.exitCode = 1;
