// Holds what `kernelskill check` says of the kernels of this folder against what an expert says of them: the bottleneck,
// and the first or the second choice of a remedy. Prints each miss and Markdown; exit status 1 when fewer agree than did.
// Called by script/bench-advice, which documents it.
//
// The expert's answer stands in the line above a kernel (above its template header), and was written before the tool was
// asked:
//
//     // expert: memory-bandwidth|compute; stencil-tiling; thread-coarsening
//
// the bottleneck (several where experts differ), the first choice and the second. A remedy is the id of a skill or of a
// method of engine/planning/remedies.yaml, or `none`: the kernel is at its limit.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.argv[2];
const wantedFiles = process.argv.slice(3);

// The shares that agree now: less would be a step back.
const minBottlenecks = 0.98;
const minSuggestions = 0.91;
const minKernels = 237;

/** {bottlenecks, choices} by kernel of a file's text. */
function answersOf(text) {
    const answers = new Map();
    let answer;
    for (const line of text.split('\n')) {
        const said = /^\/\/ expert: (.*)$/.exec(line);
        if (said) {
            const [bottlenecks, first, second] = said[1].split(';').map((part) => part.trim());
            answer = { bottlenecks: bottlenecks.split('|'), choices: [first, second] };
        }
        const kernel = /__global__ void (?:__launch_bounds__\(\w+\) )?(\w+)\(/.exec(line);
        if (!kernel) continue;
        if (!answer) throw new Error(`no answer of an expert for ${kernel[1]}`);
        answers.set(kernel[1], answer);
        answer = undefined;
    }
    return answers;
}

/** What `check` shows first: the skill that answers the bottleneck, else the method that would. */
function suggestionOf(kernel) {
    const skills = kernel.skills.filter((skill) => !skill.failed_before && skill.role === 'answer');
    const leading = skills.find((skill) => skill.answers === 'leading');
    if (leading) return leading.id;
    if (kernel.remedies?.length) return kernel.remedies[0].method;
    if (kernel.bottleneck.headroom === 'none') return 'none';
    return skills.find((skill) => skill.answers === 'further')?.id ?? '(nothing)';
}

// Profiles kept on this machine would change the answers: each run has a cache of its own.
const scratch = mkdtempSync(path.join(tmpdir(), 'advice-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
const env = { ...process.env, XDG_CACHE_HOME: path.join(scratch, 'cache'), XDG_DATA_HOME: path.join(scratch, 'data') };

const totals = { kernels: 0, bottlenecks: 0, suggestions: 0 };
const rows = [];
const misses = [];
for (const file of readdirSync(here).filter((name) => name.endsWith('.cu')).sort()) {
    if (wantedFiles.length && !wantedFiles.includes(file)) continue;
    const output = execFileSync(server, ['check', path.join(here, file), '--json'], { encoding: 'utf8', env });
    const checked = JSON.parse(output);
    for (const problem of checked.diagnostics)
        if (problem.severity === 'error') throw new Error(`${file}: ${problem.message}`);
    const answers = answersOf(readFileSync(path.join(here, file), 'utf8'));
    const row = { file, kernels: 0, bottlenecks: 0, suggestions: 0 };
    for (const kernel of checked.kernels) {
        const answer = answers.get(kernel.name);
        if (!answer) throw new Error(`${file}: no answer of an expert for ${kernel.name}`);
        answers.delete(kernel.name);
        const suggestion = suggestionOf(kernel);
        const kind = answer.bottlenecks.includes(kernel.bottleneck.kind);
        const remedy = answer.choices.includes(suggestion);
        row.kernels += 1;
        row.bottlenecks += kind;
        row.suggestions += remedy;
        if (!kind || !remedy)
            misses.push(
                `${file}: ${kernel.name}` +
                    (kind ? '' : `; bottleneck ${kernel.bottleneck.kind} (${kernel.bottleneck.rule}), expert ${answer.bottlenecks.join(' or ')}`) +
                    (remedy ? '' : `; suggestion ${suggestion}${kind ? ` (${kernel.bottleneck.kind}, ${kernel.bottleneck.rule})` : ''}, expert ${answer.choices.join(', then ')}`),
            );
    }
    if (answers.size) throw new Error(`${file}: not found by check: ${[...answers.keys()].join(', ')}`);
    rows.push(row);
    for (const key of Object.keys(totals)) totals[key] += row[key];
}

const percent = (part, whole) => `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`;
for (const miss of misses) console.log(`- ${miss}`);
console.log('\n| subject | kernels | bottleneck | suggestion |\n|---|---|---|---|');
for (const row of rows)
    console.log(`| ${row.file.replace('.cu', '')} | ${row.kernels} | ${row.bottlenecks} | ${row.suggestions} |`);
console.log(`\nbottleneck: ${percent(totals.bottlenecks, totals.kernels)}`);
console.log(`first suggestion, first or second choice: ${percent(totals.suggestions, totals.kernels)}`);
if (!wantedFiles.length) {
    const holds =
        totals.kernels >= minKernels &&
        totals.bottlenecks >= minBottlenecks * totals.kernels &&
        totals.suggestions >= minSuggestions * totals.kernels;
    if (!holds) console.error('advice: fewer agree than did');
    process.exit(holds ? 0 : 1);
}
