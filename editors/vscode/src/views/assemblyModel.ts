// The answer to kernelskill/assembly as listings. Knows nothing of VS Code, so that it can be tested without one.
import * as path from 'node:path';

import type { AssemblyState, Instruction, Listing } from '../webview/state';

interface Position {
    readonly file: number;
    readonly line: number;
}

export interface Version {
    readonly label: string;
    readonly file: string;
    readonly kernel: string;
    readonly language: string;
    readonly architecture: string;
    readonly compiler: string;
    readonly facts: {
        readonly registers: number;
        readonly spill_store_bytes: number;
        readonly spill_load_bytes: number;
        readonly shared_bytes: number;
        readonly occupancy: { readonly percent: number } | null;
    };
    readonly total: number;
    readonly files: readonly { readonly path: string }[];
    readonly labels: readonly { readonly name: string; readonly before: number }[];
    readonly instructions: readonly { readonly text: string; readonly shown: Position | null }[];
    readonly notes: readonly string[];
}

export interface Assembly {
    readonly versions: readonly Version[];
    readonly difference: {
        readonly rows: readonly { readonly change: string; readonly before: number | null; readonly after: number | null }[];
    } | null;
}

/** `notes` come before those of the versions. */
export function assemblyState({ versions, difference }: Assembly, notes: readonly string[]): AssemblyState {
    const [before, after] = versions;
    const listings = versions.map((version, index) => {
        const isAfter = index > 0;
        const rows = difference
            ? difference.rows.map(({ change, before, after }) => {
                  const at = isAfter ? after : before;
                  return at === null ? { text: '', change: 'gap' } : instruction(version, at, change);
              })
            : [...version.instructions.keys()].map((at) => instruction(version, at, 'same'));
        return listing(version, difference ? rows : withLabels(version, rows));
    });
    return {
        view: 'assembly',
        kernel: (after ?? before)?.kernel ?? '',
        listings,
        notes: [...new Set([...notes, ...versions.flatMap((version) => version.notes)])],
    };
}

function instruction(version: Version, at: number, change: string): Instruction {
    const { text, shown } = version.instructions[at]!;
    const isOfFile = shown && version.files[shown.file]?.path === version.file;
    return { text, change, line: isOfFile ? shown.line : undefined };
}

function withLabels(version: Version, rows: readonly Instruction[]): Instruction[] {
    return rows.flatMap((row, at) => [
        ...version.labels.filter(({ before }) => before === at).map(({ name }) => ({ text: `${name}:`, change: 'label' })),
        { ...row, text: `  ${row.text}` },
    ]);
}

function listing(version: Version, instructions: readonly Instruction[]): Listing {
    const { registers, spill_store_bytes, spill_load_bytes, shared_bytes, occupancy } = version.facts;
    const facts = [
        `${version.language.toUpperCase()} for ${version.architecture}, ${version.compiler}`,
        `${version.total} instructions`,
        `${registers} registers`,
        spill_store_bytes + spill_load_bytes > 0 ? `${spill_store_bytes + spill_load_bytes} bytes spilled` : 'no spills',
        `${shared_bytes} bytes of shared memory`,
        ...(occupancy ? [`${occupancy.percent.toFixed(0)} % occupancy`] : []),
    ];
    const label = version.label === version.file ? path.basename(version.file) : version.label;
    return { label, facts: facts.join(' · '), instructions };
}
