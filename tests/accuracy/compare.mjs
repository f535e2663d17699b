// Holds what the emulator counts and reports on the kernels of this folder against what Nsight Compute and
// compute-sanitizer said of the same kernels on a GPU (measured/). Prints Markdown; exit status 1 when fewer agree than
// did. Called by script/bench-accuracy, which documents it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.argv[2];

// What counts as agreement, and how many kernels agree now: fewer would be a step back.
const sectorTolerance = 0.02;
const wavefrontTolerance = 0.03;
const branchTolerance = 1;
const wantedKernels = 28;
const operationTolerance = 0.02;
const rareOperations = 100; // Of the odd thread with a special value, which takes a way of its own.
const wantedArithmeticKernels = 48;
const wantedHazardKernels = 31;

const measured = (name) => readFileSync(path.join(here, 'measured', name), 'utf8').trim();

const profiled = new Map();

function profile(program, kernel) {
    const key = `${program}.${kernel}`;
    if (!profiled.has(key)) {
        const file = path.join(here, `${program}.cu`);
        const output = execFileSync(server, ['profile', file, '--kernel', kernel, '--json'], {
            encoding: 'utf8',
            stdio: ['ignore', 'pipe', 'inherit'],
        });
        profiled.set(key, JSON.parse(output));
    }
    return profiled.get(key);
}

/** ncu.csv as a list of {program, kernel, metrics}; of several launches of a kernel the first. */
function gpuProfiles() {
    const profiles = new Map();
    for (const row of measured('ncu.csv').split('\n')) {
        const [program, id, kernel, metric, value] = row.split(',');
        const key = `${program}.${kernel}`;
        if (!profiles.has(key)) profiles.set(key, { program, id, kernel, metrics: {} });
        if (profiles.get(key).id === id) profiles.get(key).metrics[metric] = Number(value);
    }
    return [...profiles.values()];
}

/** Undefined where nothing was counted. */
const ratio = (metrics, above, below) => (metrics[below] > 0 ? metrics[above] / metrics[below] : undefined);

const sectors = (metrics, op) =>
    ratio(
        metrics,
        `l1tex__t_sectors_pipe_lsu_mem_global_op_${op}.sum`,
        `l1tex__t_requests_pipe_lsu_mem_global_op_${op}.sum`,
    );

// A warp whose lanes are all predicated off makes no request; the emulator never sees such a one.
const wavefronts = (metrics, op) =>
    ratio(
        metrics,
        `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_${op}.sum`,
        metrics[`smsp__inst_executed_op_shared_${op}_pred_on_any.sum`] === undefined
            ? `smsp__inst_executed_op_shared_${op}.sum`
            : `smsp__inst_executed_op_shared_${op}_pred_on_any.sum`,
    );

// ncu says 0 % of no branches.
const uniformBranches = (metrics) =>
    metrics['smsp__sass_branch_targets.sum'] === 0
        ? undefined
        : metrics['smsp__sass_average_branch_targets_threads_uniform.pct'];

const quantities = [
    { name: 'load sectors', of: (m) => sectors(m, 'ld'), agrees: within(sectorTolerance) },
    { name: 'store sectors', of: (m) => sectors(m, 'st'), agrees: within(sectorTolerance) },
    { name: 'load wavefronts', of: (m) => wavefronts(m, 'ld'), agrees: within(wavefrontTolerance) },
    { name: 'store wavefronts', of: (m) => wavefronts(m, 'st'), agrees: within(wavefrontTolerance) },
    {
        name: 'branch efficiency',
        of: uniformBranches,
        // No branch at all and only uniform ones are the same to a reader.
        agrees: (ours, theirs) => Math.abs((ours ?? 100) - (theirs ?? 100)) <= branchTolerance,
    },
];

function within(tolerance) {
    return (ours, theirs) =>
        ours === theirs || (ours !== undefined && theirs !== undefined && Math.abs(ours / theirs - 1) <= tolerance);
}

const number = (value) => (value === undefined ? '–' : String(Number(value.toFixed(2))));

function counters() {
    console.log(`| kernel | ${quantities.map((q) => q.name).join(' | ')} | agrees |`);
    console.log(`|---|${quantities.map(() => '--:').join('|')}|---|`);
    let agreeing = 0;
    const profiles = gpuProfiles().filter(({ program }) => program !== 'arithmetic');
    for (const { program, kernel, metrics } of profiles) {
        const counted = profile(program, kernel).metrics;
        const misses = [];
        const cells = quantities.map((quantity) => {
            const ours = quantity.of(counted);
            const theirs = quantity.of(metrics);
            if (quantity.agrees(ours, theirs)) return number(theirs);
            misses.push(quantity.name);
            return `**${number(ours)}**, ncu ${number(theirs)}`;
        });
        if (misses.length === 0) ++agreeing;
        console.log(`| \`${kernel}\` | ${cells.join(' | ')} | ${misses.length === 0 ? 'yes' : misses.join(', ')} |`);
    }
    console.log(`\n${agreeing} of ${profiles.length} kernels agree in every column.\n`);
    return agreeing >= wantedKernels;
}

const operations = ['fadd', 'fmul', 'ffma', 'dadd', 'dmul', 'dfma'];
const executed = (metrics, operation) => metrics[`smsp__sass_thread_inst_executed_op_${operation}_pred_on.sum`] ?? 0;
const flops = (metrics) =>
    operations.reduce((sum, name) => sum + executed(metrics, name) * (name.endsWith('fma') ? 2 : 1), 0);

const count = (value) => (value === 0 ? '–' : value.toLocaleString('en-US'));

/** Kernels without floating-point operations are left out, and those whose halves nvcc issues in other ways. */
function arithmetic() {
    console.log(`| kernel | ${operations.join(' | ')} | operations | agrees |`);
    console.log(`|---|${operations.map(() => '--:').join('|')}|--:|---|`);
    let agreeing = 0;
    let kernels = 0;
    for (const { program, kernel, metrics } of gpuProfiles()) {
        const counted = profile(program, kernel).metrics;
        if (flops(metrics) === 0 && flops(counted) === 0) continue;
        ++kernels;
        const agree = (ours, theirs) =>
            Math.abs(ours - theirs) <= Math.max(rareOperations, operationTolerance * theirs);
        const cell = (ours, theirs) => (agree(ours, theirs) ? count(theirs) : `**${count(ours)}**, ncu ${count(theirs)}`);
        const cells = operations.map((name) => cell(executed(counted, name), executed(metrics, name)));
        const isEqual = agree(flops(counted), flops(metrics));
        if (isEqual) ++agreeing;
        cells.push(cell(flops(counted), flops(metrics)));
        console.log(`| \`${kernel}\` | ${cells.join(' | ')} | ${isEqual ? 'yes' : '**no**'} |`);
    }
    console.log(`\n${agreeing} of ${kernels} kernels agree in the sum of operations.\n`);
    return localMemory() && agreeing >= wantedArithmeticKernels;
}

/** What is said to be known of local memory is so. */
function localMemory() {
    let known = 0;
    let wrong = 0;
    for (const { program, kernel, metrics } of gpuProfiles()) {
        for (const name of ['smsp__inst_executed_op_local_ld.sum', 'smsp__inst_executed_op_local_st.sum']) {
            const counted = profile(program, kernel).metrics[name];
            if (counted === undefined || metrics[name] === undefined) continue;
            ++known;
            if (counted !== metrics[name]) ++wrong;
        }
    }
    console.log(`Local memory: ${known} counts known without a GPU, ${known - wrong} of them as ncu has them.\n`);
    return wrong === 0;
}

// Which of compute-sanitizer's tools looks for what the emulator calls so.
const toolOf = {
    race: 'racecheck',
    'out-of-bounds': 'memcheck',
    misaligned: 'memcheck',
    'barrier-divergence': 'synccheck',
    'uninitialized-read': 'initcheck',
};

function hazards() {
    const found = new Map();
    for (const row of measured('sanitizer.csv').split('\n')) {
        const [kernel, tool, errors] = row.split(',');
        if (!found.has(kernel)) found.set(kernel, new Set());
        if (Number(errors) > 0) found.get(kernel).add(tool);
    }
    console.log('| kernel | emulator | compute-sanitizer | agree |');
    console.log('|---|---|---|---|');
    let agreeing = 0;
    for (const [kernel, tools] of found) {
        const kinds = new Set(
            profile('hazards', kernel)
                .hazards.filter((hazard) => hazard.certain)
                .map((hazard) => hazard.kind),
        );
        const agree = [...kinds].some((kind) => tools.has(toolOf[kind])) || (kinds.size === 0 && tools.size === 0);
        if (agree) ++agreeing;
        const list = (values) => (values.size === 0 ? 'nothing' : [...values].join(', '));
        console.log(`| \`${kernel}\` | ${list(kinds)} | ${list(tools)} | ${agree ? 'yes' : '**no**'} |`);
    }
    console.log(`\n${agreeing} of ${found.size} kernels agree.\n`);
    return agreeing >= wantedHazardKernels;
}

console.log('## Counters, against Nsight Compute\n');
const countersHold = counters();
console.log('## Arithmetic, against Nsight Compute\n');
const arithmeticHolds = arithmetic();
console.log('## Hazards, against compute-sanitizer\n');
const hazardsHold = hazards();
process.exit(countersHold && arithmeticHolds && hazardsHold ? 0 : 1);
