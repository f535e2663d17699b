// Takes every code action of a skill that the server offers on the kernels of the given files, and prints by skill what
// came of it: offered, applied, compiled, correct, faster. Called by script/bench-precision, which documents the arguments.
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { sampleOfActions, weighedShare } from './action_sample.mjs';
import { LspClient } from './lsp_client.mjs';
import { writeSection } from './report_section.mjs';

const leastPrecision = 0.98;
const { values: options, positionals: given } = parseArgs({
    allowPositionals: true,
    options: {
        server: { type: 'string' },
        jobs: { type: 'string', default: '1' },
        skills: { type: 'string', default: '' },
        sample: { type: 'string', default: '' },
        seed: { type: 'string', default: '1' },
        favour: { type: 'string', default: '' },
        details: { type: 'string', default: '' },
        from: { type: 'string', default: '' },
        write: { type: 'string', default: '' },
        invocation: { type: 'string', default: '' },
    },
});
const wanted = options.skills === '' ? undefined : options.skills.split(',');
const favoured = options.favour === '' ? [] : options.favour.split(',');
/** By file, what was looked at and what came of it. */
const results = new Map();
/** These hold, for a sample, the offers of each file, the drawn ones of each file, and the number of offers of each skill. */
const listed = new Map();
let drawn;
const numbersOffered = {};
if (options.details !== '') writeFileSync(options.details, '');

const { checks } = JSON.parse(spawnSync(options.server, ['doctor', '--json'], { encoding: 'utf8' }).stdout);
const hasCompiler = checks.some(({ name, status }) => name === 'cuda-toolkit' && status === 'ok');

/** A later result of a file stands for what it looked at; of the skills that it did not, the earlier one stays. */
function keep(result) {
    const isCovered = (action) => result.skills === null || result.skills.includes(action.skill);
    const earlier = results.get(result.file)?.actions ?? [];
    results.set(result.file, { ...result, actions: [...earlier.filter((action) => !isCovered(action)), ...result.actions] });
}

/** A server with memories and caches of its own, which no earlier run has taught anything. */
async function startServer(number) {
    const scratch = process.env.SCRATCH;
    const client = new LspClient(options.server, ['lsp'], {
        cwd: scratch,
        env: { ...process.env, XDG_DATA_HOME: path.join(scratch, `data${number}`) },
    });
    await client.request('initialize', {
        initializationOptions: { trusted: true },
        processId: null,
        rootUri: pathToFileURL(scratch).href,
        capabilities: { workspace: { applyEdit: true } },
    });
    client.notify('initialized', {});
    return client;
}

/**
 * Actions by skill, kernel and place: the same one is offered on many lines. Those that are marked as not checkable are told
 * apart, since their titles say before the click that they will not be applied.
 */
async function offersOf(client, uri, text) {
    const offers = { taken: new Map(), marked: new Map() };
    for (let line = 0; line < text.split('\n').length; ++line) {
        const at = { line, character: 0 };
        const offered = await client.request('textDocument/codeAction', {
            textDocument: { uri },
            range: { start: at, end: at },
            context: { diagnostics: [] },
        });
        for (const command of offered) {
            const [argument] = command.arguments ?? [];
            if (argument?.type !== 'skill' || !(wanted?.includes(argument.skill) ?? true)) continue;
            const kind = command.title.endsWith('(cannot be checked)') ? 'marked' : 'taken';
            offers[kind].set(JSON.stringify(argument.offer), argument);
        }
    }
    return offers;
}

/** The kernels that the document itself holds: one lens each says what holds it back. */
async function kernelsOf(client, uri) {
    const lenses = await client.request('textDocument/codeLens', { textDocument: { uri } });
    return [...new Set(lenses.map((lens) => lens.data?.kernel ?? lens.command?.arguments?.[0]?.kernel))];
}

/** Checks that say nothing of an edit when they fail: the original cannot be run, or not compared. */
const checksOfTheOriginal = [
    'can be launched',
    'the original compiles',
    'the original runs',
    'the original always gives the same result',
    'writes something',
    'control fails',
];
/** Of these, the ones made before the edit is compiled. */
const checksBeforeCompiling = ['can be launched', 'the original compiles'];

function accepted(verdict) {
    return {
        applied: true,
        compiled: true,
        correct: true,
        isUnjudged: false,
        faster: verdict.status === 'faster',
        proved: verdict.confidence === 'proved',
        said: verdict.summary ?? '',
    };
}

/** What a refusal tells: the review's own sentence names the check that failed. Without one there was no edit to review. */
function refused(message) {
    const failed = /The verdict is .*?check "([^"]+)" failed/.exec(message)?.[1];
    return {
        applied: failed !== undefined && failed !== 'applies',
        compiled: failed !== undefined && !/^(applies|parses|compiles)/.test(failed) && !checksBeforeCompiling.includes(failed),
        correct: false,
        isUnjudged: checksOfTheOriginal.includes(failed),
        faster: false,
        proved: false,
        said: message,
    };
}

/**
 * Until the profile holds what the GPU's compiler said, which some skills ask and which comes a little later; null where
 * there is no such compiler. A profile that was made is answered at once.
 */
async function profiled(profile) {
    for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
        const { static: facts } = await profile();
        if (facts !== null || !hasCompiler) return;
        await setTimeout(100);
    }
}

/** Opens the file, profiles its kernels, calls `ask`, and closes the file. */
async function withOpenFile(client, file, ask) {
    const text = readFileSync(file, 'utf8');
    const uri = pathToFileURL(path.resolve(file)).href;
    const ready = client.diagnostics(uri, 1);
    client.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'cuda', version: 1, text } });
    await ready;
    const command = (name, argument) =>
        client.request('workspace/executeCommand', { command: `kernelskill.${name}`, arguments: [argument] });
    const kernels = await kernelsOf(client, uri);
    // What cannot be run has no profile.
    for (const kernel of kernels) await profiled(() => command('profile', { uri, kernel })).catch(() => undefined);
    await ask({ uri, text, kernels, command });
    client.notify('textDocument/didClose', { textDocument: { uri } });
}

/** Lists the offers of a file, from which a sample is drawn later. */
async function listFile(client, file) {
    await withOpenFile(client, file, async ({ uri, text, kernels }) => {
        const offers = await offersOf(client, uri, text);
        const unmarked = [...offers.taken].filter(([offer]) => !offers.marked.has(offer));
        listed.set(file, { kernels, marked: offers.marked.size, offers: new Map(unmarked) });
    });
}

/** Takes the actions that are offered in a file, or of these the ones that were drawn. */
async function judgeFile(client, file) {
    await withOpenFile(client, file, async ({ uri, text, kernels, command }) => {
        const offers = await offersOf(client, uri, text);
        let { marked } = offers;
        const result = { file, kernels, skills: wanted ?? null, actions: [], marked: marked.size };
        for (const [offer, argument] of drawn?.get(file) ?? offers.taken) {
            if (marked.has(offer)) {
                ++result.marked;
                continue;
            }
            const asked = Date.now();
            const outcome = await command('applySkill', argument).then(
                (answer) => accepted(answer.verdict),
                (error) => refused(error.message),
            );
            const seconds = (Date.now() - asked) / 1000;
            const { skill, kernel, offer: place } = argument;
            const line = Buffer.from(text).subarray(0, place.begin).toString().split('\n').length;
            result.actions.push({ skill, kernel, title: place.title, line, seconds, ...outcome });
            // A review may show that the original does not run, which marks the kernel's other offers.
            if (outcome.isUnjudged) ({ marked } = await offersOf(client, uri, text));
        }
        keep(result);
        if (options.details !== '') appendFileSync(options.details, `${JSON.stringify(result)}\n`);
    });
}

/** Calls `work` for each file, with as many servers side by side as --jobs says. */
async function forEachFile(files, work) {
    const waiting = [...files];
    const workOn = async (number) => {
        let client = await startServer(number);
        for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
            try {
                await work(client, file);
            } catch (error) {
                console.error(`${file}: ${error.message}`);
                process.exitCode = 1;
                client.kill();
                client = await startServer(number);
            }
        }
        await client.stop();
    };
    await Promise.all([...Array(waiting.length === 0 ? 0 : Number(options.jobs)).keys()].map(workOn));
}

/** Draws the actions, and returns them by file. The place of an action tells it from others: what is said of it may change with its skill. */
function drawSample() {
    const placeOf = ({ skill, kernel, begin, end, option }) => JSON.stringify([skill, kernel, begin, end, option]);
    const actions = [...listed].flatMap(([file, { offers }]) =>
        [...offers].map(([key, argument]) => ({ skill: argument.skill, file, offer: placeOf(argument.offer), key, argument })),
    );
    for (const { skill } of actions) numbersOffered[skill] = (numbersOffered[skill] ?? 0) + 1;
    const byFile = new Map();
    for (const { file, key, argument } of sampleOfActions(actions, Number(options.sample), options.seed, favoured)) {
        if (!byFile.has(file)) byFile.set(file, new Map());
        byFile.get(file).set(key, argument);
    }
    return byFile;
}

const began = Date.now();
const loadBefore = loadavg()[0];
for (const file of options.from === '' ? [] : options.from.split(','))
    for (const line of readFileSync(file, 'utf8').trim().split('\n')) keep(JSON.parse(line));
if (options.sample === '') {
    await forEachFile(given, judgeFile);
} else {
    await forEachFile(given, listFile);
    drawn = drawSample();
    for (const [file, { kernels, marked }] of listed)
        if (!drawn.has(file)) keep({ file, kernels, skills: wanted ?? null, actions: [], marked });
    await forEachFile(drawn.keys(), judgeFile);
}

const files = [...results.keys()].sort();
const actions = files.flatMap((file) => results.get(file).actions.map((action) => ({ file, ...action })));
const kernelsIn = (some) => some.reduce((sum, file) => sum + results.get(file).kernels.length, 0);
const count = (list, field) => list.filter((action) => action[field]).length;
const percent = (part, whole) => (whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`);
const row = (name, list) => {
    const columns = ['applied', 'compiled', 'correct', 'proved'].map((field) => count(list, field));
    const unjudged = count(list, 'isUnjudged');
    const wrong = list.length - count(list, 'correct') - unjudged;
    const share = percent(count(list, 'correct'), list.length);
    return `| ${name} | ${list.length} | ${columns.join(' | ')} | ${count(list, 'faster')} | ${wrong} | ${unjudged} | ${share} |`;
};
const skills = [...new Set(actions.map((action) => action.skill))].sort();
const folderOf = (file) => (file.startsWith('skills/') ? 'skills' : path.dirname(file).split('/').slice(0, 2).join('/'));
const counts = (some) =>
    [some.length, some.filter((file) => file.endsWith('.cuh')).length, kernelsIn(some)].join(' | ');
const folders = [...new Set(files.map(folderOf))].sort().map((folder) => {
    const inside = files.filter((file) => folderOf(file) === folder);
    return `| \`${folder}\` | ${counts(inside)} |`;
});
const minutes = ((Date.now() - began) / 60000).toFixed(0);
const waits = actions.map(({ seconds }) => seconds).filter((seconds) => seconds !== undefined).sort((a, b) => a - b);
const quantile = (share) => `${waits[Math.floor(share * (waits.length - 1))].toFixed(2)} s`;
const waited = waits.length === 0 ? 'not taken' : `${quantile(0.5)}, ${quantile(0.9)}, ${quantile(1)}`;
const marked = files.reduce((sum, file) => sum + (results.get(file).marked ?? 0), 0);
const onItsOwnResult = actions.filter(({ file, skill }) => file === `skills/${skill}/after.cu`);
const inAll = Object.values(numbersOffered).reduce((sum, number) => sum + number, 0);
const weighed = weighedShare(actions, numbersOffered);
const drawnFrom = Object.entries(numbersOffered).sort().map(([skill, number]) => `${skill} ${number}`).join(', ');
const shareOfAll = weighed === undefined ? 'nothing' : percent(weighed, 1);
const ofSample =
    options.sample === ''
        ? ''
        : `
A sample with seed ${options.seed} of ${inAll} offered actions (${drawnFrom}).
Weighed by these numbers, ${shareOfAll} are correct.
`;
const report = `| skill | offered | applied | compiled | correct | proved | faster | wrong | not judged | correct of offered |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
${skills.map((skill) => row(skill, actions.filter((action) => action.skill === skill))).join('\n')}
${row('all', actions)}
${ofSample}
Marked as not checkable before the click, and not taken: ${marked}.

Offered on its own skill's \`after.cu\`: ${onItsOwnResult.length === 0 ? 'none' : onItsOwnResult.map(({ skill }) => skill).join(', ')}.

| kernels of | files | of these \`.cuh\` | kernels |
|---|---:|---:|---:|
${folders.join('\n')}
| all | ${counts(files)} |

| | |
|---|---|
| machine | ${cpus()[0].model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB |
| load average before and after | ${loadBefore.toFixed(1)}, ${loadavg()[0].toFixed(1)} |
| took | ${minutes} minutes |
| an action took, median, 90th percentile, longest | ${waited} |
| kernelskill | ${execFileSync(options.server, ['--version'], { encoding: 'utf8' }).trim()} |
| date | ${new Date().toISOString().slice(0, 10)} |
| command | \`${options.invocation}\` |
`;
process.stdout.write(report);
if (options.write !== '') writeSection(options.write, 'Precision of skills', 'What came of each action', report);
if (actions.length === 0 || count(actions, 'correct') < leastPrecision * actions.length || onItsOwnResult.length > 0)
    process.exitCode = 1;
