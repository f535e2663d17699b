// The server's times for its answers, as timed_server notes them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';

import { root } from './session';

const folder = mkdtempSync(path.join(tmpdir(), 'kernelskill-timings-'));
after(() => rmSync(folder, { recursive: true }));
const notes = path.join(folder, 'timings');
process.env['KERNELSKILL_TEST_TIMINGS'] = notes;

/** A session's settings that let it note them. */
export const timedServer = { 'kernelskill.server.path': path.join(root, 'tests/editors/vscode/workbench/timed_server') };

/** Milliseconds of each request of this method since the last time that times were taken. */
export function takeServerTimes(method: string): number[] {
    const lines = readFileSync(notes, 'utf8').split('\n').filter((line) => line !== '');
    writeFileSync(notes, '');
    const answers = lines.map((line) => JSON.parse(line) as { method: string; milliseconds: number });
    return answers.filter((answer) => answer.method === method).map(({ milliseconds }) => milliseconds);
}

export function quantile(values: readonly number[], fraction: number): number {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted[Math.max(Math.ceil(fraction * sorted.length), 1) - 1]!;
}

export function spread(values: readonly number[]): string {
    return `median ${quantile(values, 0.5).toFixed(1)} p95 ${quantile(values, 0.95).toFixed(1)} ms`;
}
