// Takes every code action of a skill that the server offers on the kernels of the given files, and prints by skill what
// came of it: offered, applied, compiled, correct, faster. Called by script/bench-precision.
//
// usage: node tests/bench/precision.mjs SERVER JOBS DETAILS FILE...
//
// DETAILS is a file for one line of JSON for each action; "" for none. Exit status 1: fewer than 98 % of the actions that
// could be judged were correct.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { LspClient } from './lsp_client.mjs';

const leastPrecision = 0.98;
const [server, jobs, details, ...files] = process.argv.slice(2);
const work = files.slice();
const actions = [];
let kernels = 0;
if (details !== '') writeFileSync(details, '');

/** A server with memories and caches of its own, which no earlier run has taught anything. */
async function startServer(number) {
    const scratch = process.env.SCRATCH;
    const client = new LspClient(server, ['lsp'], {
        cwd: scratch,
        env: { ...process.env, XDG_DATA_HOME: path.join(scratch, `data${number}`) },
    });
    await client.request('initialize', {
        processId: null,
        rootUri: pathToFileURL(scratch).href,
        capabilities: { workspace: { applyEdit: true } },
    });
    client.notify('initialized', {});
    return client;
}

/** Actions by skill, kernel and place: the same one is offered on many lines. */
async function offersOf(client, uri, text) {
    const found = new Map();
    for (let line = 0; line < text.split('\n').length; ++line) {
        const at = { line, character: 0 };
        const offered = await client.request('textDocument/codeAction', {
            textDocument: { uri },
            range: { start: at, end: at },
            context: { diagnostics: [] },
        });
        for (const command of offered) {
            const [argument] = command.arguments ?? [];
            if (argument?.type === 'skill') found.set(JSON.stringify(argument.offer), argument);
        }
    }
    return [...found.values()];
}

function judged(verdict) {
    const failed = (verdict.checks ?? []).filter((check) => !check.passed);
    return {
        applied: true,
        compiled: !failed.some((check) => /parses|compiles/.test(check.name)),
        correct: failed.length === 0,
        faster: verdict.status === 'faster',
        said: verdict.summary ?? '',
    };
}

/** What a refusal tells: the review's own sentence names the check that failed. */
function refused(message) {
    const isJudgement = /The verdict is/.test(message);
    return {
        applied: isJudgement,
        compiled: isJudgement && !/does not (parse|compile)|compil/.test(message),
        correct: false,
        faster: false,
        // The original itself does not run, or nothing here can run it: that says nothing of the edit.
        isUnjudged: /original|no executor|cannot be run|is not emulated/.test(message) && !/differs|matches/.test(message),
        said: message,
    };
}

async function judgeFile(client, file) {
    const text = readFileSync(file, 'utf8');
    const uri = pathToFileURL(path.resolve(file)).href;
    const ready = client.diagnostics(uri, 1);
    client.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'cuda', version: 1, text } });
    await ready;
    kernels += (text.match(/__global__/g) ?? []).length;
    for (const argument of await offersOf(client, uri, text)) {
        const result = await client
            .request('workspace/executeCommand', { command: 'kernelskill.applySkill', arguments: [argument] })
            .then((answer) => judged(answer.verdict), (error) => refused(error.message));
        const action = { file, skill: argument.skill, kernel: argument.kernel, ...result };
        actions.push(action);
        if (details !== '') appendFileSync(details, `${JSON.stringify(action)}\n`);
    }
    client.notify('textDocument/didClose', { textDocument: { uri } });
}

async function workOn(number) {
    let client = await startServer(number);
    for (let file = work.shift(); file !== undefined; file = work.shift()) {
        try {
            await judgeFile(client, file);
        } catch (error) {
            console.error(`${file}: ${error.message}`);
            process.exitCode = 1;
            client = await startServer(number);
        }
    }
    await client.stop();
}

await Promise.all([...Array(Number(jobs)).keys()].map(workOn));
const count = (list, field) => list.filter((action) => action[field]).length;
const row = (name, list) => {
    const sound = list.length - count(list, 'isUnjudged');
    const share = sound === 0 ? '' : `${((100 * count(list, 'correct')) / sound).toFixed(1)} %`;
    const columns = ['applied', 'compiled', 'correct', 'isUnjudged', 'faster'].map((field) => count(list, field));
    console.log(`| ${name} | ${list.length} | ${columns.join(' | ')} | ${share} |`);
};
console.log(`${kernels} kernels in ${files.length} files.\n`);
console.log('| skill | offered | applied | compiled | correct | not judged | faster | correct of those judged |');
console.log('|---|---|---|---|---|---|---|---|');
for (const skill of [...new Set(actions.map((action) => action.skill))].sort())
    row(skill, actions.filter((action) => action.skill === skill));
row('all', actions);
const judgedCount = actions.length - count(actions, 'isUnjudged');
if (judgedCount === 0 || count(actions, 'correct') < leastPrecision * judgedCount) process.exitCode = 1;
