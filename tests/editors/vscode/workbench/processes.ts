// The processes that a session of the workbench has started.
import { readdirSync, readFileSync } from 'node:fs';

import { kernelskill } from './session';

/**
 * The language servers of the session in this folder, which their environment names. Each has a child process with the same
 * command line that does its work: these are left out.
 */
export function serversOf(folder: string): number[] {
    const parents = new Map<number, number>();
    for (const entry of readdirSync('/proc')) {
        if (!/^\d+$/.test(entry)) continue;
        try {
            const words = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0');
            const environment = readFileSync(`/proc/${entry}/environ`, 'utf8');
            const [, parent] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${entry}/status`, 'utf8')) ?? [];
            if (words.includes('lsp') && words.includes(kernelskill) && environment.includes(folder)) {
                parents.set(Number(entry), Number(parent));
            }
        } catch {
            // It has ended meanwhile.
        }
    }
    return [...parents].filter(([, parent]) => !parents.has(parent)).map(([process]) => process);
}
