// What Linux tells about processes.
import { readdirSync, readFileSync } from 'node:fs';

/** The programs that the process has started, and those that they have, and so on. */
export function descendantsOf(ancestor: number): number[] {
    const children = new Map<number, number[]>();
    for (const entry of readdirSync('/proc')) {
        if (!/^\d+$/.test(entry)) continue;
        const parent = Number(/\) \S (\d+)/.exec(read(`/proc/${entry}/stat`))?.[1]);
        children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    }
    const below = (pid: number): number[] => (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
    return below(ancestor);
}

export function commandLineOf(pid: number): string {
    return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
}

/** Milliseconds of the processes' main threads: how long they ran, and were ready to run and did not. */
export function processorTimeOf(pids: readonly number[]): { readonly worked: number; readonly waited: number } {
    const times = pids.map((pid) => read(`/proc/${pid}/schedstat`).split(' ').map((text) => Number(text) / 1e6));
    const sum = (field: number) => times.reduce((sum, fields) => sum + (fields[field] ?? 0), 0);
    return { worked: sum(0), waited: sum(1) };
}

/** Empty when it has ended. */
function read(file: string): string {
    try {
        return readFileSync(file, 'utf8');
    } catch {
        return '';
    }
}
