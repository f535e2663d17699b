// Prints how far the runner's counters and wall time are from ncu's: `script/bench-profiler --table DIRECTORY`.
import fs from 'node:fs';
import path from 'node:path';

const folder = process.argv[2];
const dramBytes = 'dram__bytes.sum'; // neither was asked for it: the sum of the two
const shown = [
    [dramBytes, 'DRAM bytes'],
    ['l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum', 'load sectors'],
    ['l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum', 'store sectors'],
    ['l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum', 'load conflicts'],
    ['sm__warps_active.avg.pct_of_peak_sustained_active', 'achieved occupancy'],
    ['sm__throughput.avg.pct_of_peak_sustained_elapsed', 'SM throughput'],
    ['dram__throughput.avg.pct_of_peak_sustained_elapsed', 'DRAM throughput'],
];
const scale = { K: 1e3, M: 1e6, G: 1e9, T: 1e12 };

/** Metric → value of ncu's CSV, in base units. */
function ncuValues(file) {
    const rows = fs.readFileSync(file, 'utf8').split('\n').filter((line) => line.startsWith('"'));
    const cells = rows.map((row) => [...row.matchAll(/"((?:[^"]|"")*)"/g)].map((match) => match[1]));
    const head = cells.shift();
    const [name, unit, value] = ['Metric Name', 'Metric Unit', 'Metric Value'].map((title) => head.indexOf(title));
    return new Map(cells.map((row) => {
        const prefix = /^([KMGT])byte/.exec(row[unit])?.[1];
        return [row[name], Number(row[value].replaceAll(',', '')) * (scale[prefix] ?? 1)];
    }));
}

/** Adds the traffic of DRAM in both directions. */
function withDramBytes(values) {
    const sum = (values.get('dram__bytes_read.sum') ?? NaN) + (values.get('dram__bytes_write.sum') ?? NaN);
    return values.set(dramBytes, sum);
}

const megabytes = (values, name) => (values.get(name) / 1e6).toFixed(2);
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const seconds = new Map();
for (const line of fs.readFileSync(path.join(folder, 'times.csv'), 'utf8').trim().split('\n')) {
    const [tool, kernel, time] = line.split(',');
    const key = `${tool} ${kernel}`;
    seconds.set(key, [...(seconds.get(key) ?? []), Number(time)]);
}
const kernels = fs.readdirSync(folder).filter((name) => name.endsWith('.ncu.csv')).map((name) => name.slice(0, -8));

const times = ['ncu, s', 'command, s', 'ratio', 'server, s', 'ratio'];
console.log(`| kernel | ${[...shown.map(([, title]) => title), ...times].join(' | ')} |`);
console.log(`|---|${'---|'.repeat(shown.length + times.length)}`);
const traffic = [];
let within = 0;
for (const kernel of kernels) {
    const theirs = withDramBytes(ncuValues(path.join(folder, `${kernel}.ncu.csv`)));
    const { metrics } = JSON.parse(fs.readFileSync(path.join(folder, `${kernel}.json`), 'utf8'));
    const ours = withDramBytes(new Map(Object.entries(metrics)));
    const directions = ['dram__bytes_read.sum', 'dram__bytes_write.sum'];
    traffic.push([kernel, ...directions.flatMap((name) => [megabytes(theirs, name), megabytes(ours, name)])]);
    let isWithin = true;
    const differences = shown.map(([metric]) => {
        const expected = theirs.get(metric) ?? 0;
        const actual = ours.get(metric) ?? 0;
        if (expected === 0 && actual === 0)
            return '0 = 0';
        const difference = 100 * (actual / expected - 1);
        isWithin &&= Math.abs(difference) <= 3;
        return `${difference >= 0 ? '+' : ''}${difference.toFixed(2)} %`;
    });
    within += isWithin;
    const ncu = median(seconds.get(`ncu ${kernel}`));
    const own = ['kernelskill', 'server'].flatMap((tool) => {
        const time = median(seconds.get(`${tool} ${kernel}`) ?? [NaN]);
        return [time.toFixed(2), (time / ncu).toFixed(2)];
    });
    console.log(`| ${[kernel, ...differences, ncu.toFixed(2), ...own].join(' | ')} |`);
}
console.log('\n| kernel | read, MB: ncu | kernelskill | written, MB: ncu | kernelskill |\n|---|---|---|---|---|');
for (const row of traffic)
    console.log(`| ${row.join(' | ')} |`);
console.log(`\n${within} of ${kernels.length} kernels within 3 % in every column.`);
const all = ['ncu', 'kernelskill'].map((tool) => median(seconds.get(`${tool} all`) ?? [NaN]));
console.log(`All kernels of the file in one go: ncu ${all[0].toFixed(2)} s, kernelskill ${all[1].toFixed(2)} s.`);
