// The messages between the extension and the pages of its views: what to show, and what the user asks for.
import type { Attempt } from '../views/attempts';

export interface MemoryState {
    readonly view: 'memory';
    readonly file: string;
    readonly attempts: readonly Attempt[];
    /** Kernels that the text has now: what was tried on others can only be read. */
    readonly kernels: readonly string[];
    readonly problems: readonly string[];
}

export interface Candidate {
    readonly number: number;
    readonly round: number;
    readonly skill: string;
    readonly title: string;
    /** "faster", "unmeasured", ...; empty where it was not reviewed. */
    readonly status: string;
    readonly decision: string;
    readonly kept: boolean;
    readonly isBest: boolean;
    readonly diff: string;
    /** Why it cannot be taken; empty where it can. */
    readonly obstacle: string;
}

export interface RunState {
    readonly view: 'run';
    readonly kernel: string;
    readonly file: string;
    /** "proposed": the search has ended, and the user has not answered yet. */
    readonly phase: 'running' | 'proposed' | 'done' | 'cancelled' | 'failed';
    readonly message: string;
    /** 0 to 100; undefined: not known. */
    readonly percent?: number | undefined;
    /** The attempts so far, the newest first: shown until there are candidates. */
    readonly attempts: readonly Attempt[];
    /** Once it has ended. */
    readonly candidates: readonly Candidate[];
    readonly hasReport: boolean;
}

export interface Instruction {
    readonly text: string;
    /** The source line that it comes from; from 0; of the file that is shown. */
    readonly line?: number | undefined;
    /** "same", "changed", "removed", "added"; "gap" where only the other side has one; "label". */
    readonly change: string;
}

export interface Listing {
    readonly label: string;
    readonly facts: string;
    readonly instructions: readonly Instruction[];
}

export interface AssemblyState {
    readonly view: 'assembly';
    readonly kernel: string;
    /** One, or before and after, whose instructions are aligned. */
    readonly listings: readonly Listing[];
    readonly notes: readonly string[];
}

export interface ProgramState {
    readonly view: 'program';
    readonly name: string;
    readonly command: string;
    /** The exit status of the program. */
    readonly status: number;
    /** Records of launches that were lost. */
    readonly dropped: number;
    /** The titles of the columns, then a row for each kernel. */
    readonly table: readonly (readonly string[])[];
    /** Whether it is known where a kernel is defined; by rows, less the titles. */
    readonly isPlaced: readonly boolean[];
    readonly devices: readonly string[];
    readonly problems: readonly string[];
    /** Since the last profile; "faster", "slower", "same", "unsure", "new" or "gone". */
    readonly changes: readonly { readonly status: string; readonly text: string }[];
}

export type State = MemoryState | RunState | AssemblyState | ProgramState;

/** The line of the editor's cursor, from 0. The view highlights its instructions. */
export interface Light {
    readonly light: number;
}

export type Request =
    | { readonly ask: 'state' }
    | { readonly ask: 'reveal'; readonly line: number }
    | { readonly ask: 'light'; readonly line: number }
    | { readonly ask: 'showEdit'; readonly id: string }
    | { readonly ask: 'tryAnyway'; readonly id: string }
    | { readonly ask: 'take'; readonly number: number }
    | { readonly ask: 'report' }
    | { readonly ask: 'cancel' }
    | { readonly ask: 'kernel'; readonly index: number }
    | { readonly ask: 'profileAgain' }
    | { readonly ask: 'compare'; readonly against: 'saved' | 'none' };
