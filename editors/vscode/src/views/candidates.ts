// An optimisation's result as candidates to choose from. Knows nothing of VS Code, so that it can be tested without one.
import type { Candidate } from '../webview/state';
import { patched } from './unifiedDiff';

/** The answer to kernelskill.optimize; what of it is used. */
export interface Optimization {
    readonly kernel: string;
    readonly rounds: readonly Round[];
    readonly best: { readonly improved: boolean; readonly skills: readonly string[] };
    readonly stop: { readonly reason: string; readonly text: string };
    readonly applied: boolean;
    readonly report?: { readonly title: string; readonly html: string };
}

export interface Round {
    readonly round: number;
    readonly number: number;
    /** The version that it edits; 0 is the original. */
    readonly from: number;
    readonly plan: { readonly skill: string; readonly title: string };
    readonly verdict: { readonly status: string } | null;
    readonly sum: { readonly status: string } | null;
    readonly kept: boolean;
    readonly version: number | null;
    readonly decision: string;
    readonly diff: string;
}

/** A candidate that was found wrong may be read, never taken. */
const refused = ['incorrect', 'invalid'];

/** `text` is what the search began with. */
export function candidatesOf(found: Optimization, text: string): Candidate[] {
    const best = bestOf(found);
    return found.rounds.map((round) => ({
        number: round.number,
        round: round.round,
        skill: round.plan.skill,
        title: round.plan.title,
        status: round.sum?.status ?? round.verdict?.status ?? '',
        decision: round.decision,
        kept: round.kept,
        isBest: round.number === best,
        diff: round.diff,
        obstacle: obstacleTo(found, round, text),
    }));
}

/** The text with the candidate's edit and those that it stands on; undefined where it cannot be had. */
export function textOf(found: Optimization, number: number, text: string): string | undefined {
    const path = pathTo(found, number);
    return path?.reduce<string | undefined>(
        (before, round) => (before === undefined ? undefined : patched(before, round.diff)),
        text,
    );
}

function obstacleTo(found: Optimization, round: Round, text: string): string {
    const verdicts = [round.verdict?.status, round.sum?.status];
    if (!round.verdict) return 'It was not checked.';
    if (verdicts.some((status) => status && refused.includes(status))) return 'It is wrong: it cannot be taken.';
    return textOf(found, round.number, text) === undefined ? 'It edits more than this file: apply the skill itself.' : '';
}

/** The attempts that lead from the original to this one, in their order. */
function pathTo(found: Optimization, number: number): Round[] | undefined {
    const round = found.rounds.find((each) => each.number === number);
    if (!round || round.diff === '') return undefined;
    if (round.from === 0) return [round];
    const parent = found.rounds.find((each) => each.version === round.from);
    const before = parent && pathTo(found, parent.number);
    return before && [...before, round];
}

/** The kept attempt whose path is made of the skills that the answer names. */
function bestOf(found: Optimization): number | undefined {
    if (!found.best.improved) return undefined;
    const wanted = found.best.skills.join(' ');
    return found.rounds
        .filter(({ kept }) => kept)
        .find(({ number }) => pathTo(found, number)?.map(({ plan }) => plan.skill).join(' ') === wanted)?.number;
}
