// What the server says of a program's run, as the view shows it.
import type { ProgramState } from '../webview/state';

interface Failure {
    readonly what: string;
    readonly where: string;
    readonly remedy: string;
}

export interface ProgramKernel {
    readonly name: string;
    readonly uri: string | null;
    readonly line: number | null;
    readonly profile: { readonly error?: Failure } | null;
}

/** The answer of `kernelskill.profileProgram`. */
export interface ProgramProfile {
    readonly name: string;
    readonly program: readonly string[];
    readonly status: number;
    readonly dropped: number;
    readonly kernels: readonly ProgramKernel[];
    readonly devices: readonly { readonly text: string }[];
    /** The head, then a row for each kernel. */
    readonly table: readonly (readonly string[])[];
    readonly changes: readonly { readonly status: string; readonly text: string }[] | null;
    readonly summary: string;
}

export function isProgramProfile(value: unknown): value is ProgramProfile {
    return typeof value === 'object' && value !== null && Array.isArray((value as { table?: unknown }).table);
}

export function programState(profile: ProgramProfile): ProgramState {
    return {
        view: 'program',
        name: profile.name,
        command: profile.program.join(' '),
        status: profile.status,
        dropped: profile.dropped,
        table: profile.table,
        isPlaced: profile.kernels.map(({ uri }) => uri !== null),
        devices: profile.devices.map(({ text }) => text),
        problems: problemsOf(profile.kernels),
        changes: profile.changes ?? [],
    };
}

/** Why details are not known; what all kernels have in common is said once. */
function problemsOf(kernels: readonly ProgramKernel[]): string[] {
    const reasons = new Map<string, string[]>();
    for (const { name, profile } of kernels) {
        if (!profile?.error) continue;
        const { what, where, remedy } = profile.error;
        const reason = `${what}${where === '' ? '' : ` (${where})`}${remedy === '' ? '' : `. ${remedy}`}`;
        reasons.set(reason, [...(reasons.get(reason) ?? []), name]);
    }
    return [...reasons].map(([reason, names]) => `${names.join(', ')}: ${reason}`);
}
