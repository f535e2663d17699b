// The memory of a file, as attempts. Knows nothing of VS Code, so that it can be tested without one.

/** An entry of the answer to kernelskill/memory. */
export interface MemoryEntry {
    readonly kind: 'plan' | 'edit' | 'verdict' | 'failure';
    readonly time: string;
    readonly kernel: string;
    readonly kernelHash: string;
    readonly skill: string;
    readonly option: number;
    readonly status: string;
    readonly detail: string;
    readonly architecture?: string;
    readonly speedup?: number;
    readonly kept?: boolean;
    readonly diagnosis?: Diagnosis;
}

export interface Diagnosis {
    readonly cause: string;
    readonly text: string;
    readonly evidence: readonly string[];
    readonly invariant: string;
    readonly repair: string;
}

/** A plan and what became of it. */
export interface Attempt {
    readonly id: string;
    readonly time: string;
    readonly kernel: string;
    readonly kernelHash: string;
    readonly skill: string;
    /** Why it was tried; empty where that is not noted. */
    readonly plan: string;
    /** Title of its edit; empty where it came to no edit. */
    readonly edit: string;
    /** Empty while it is being tried, or when that was interrupted. */
    readonly status: string;
    readonly detail: string;
    readonly architecture?: string | undefined;
    readonly speedup?: number | undefined;
    readonly kept?: boolean | undefined;
    readonly diagnosis?: Diagnosis | undefined;
}

/** The newest first. Attempts that ran side by side are told apart by kernel, skill and option. */
export function attemptsOf(entries: readonly MemoryEntry[]): Attempt[] {
    const attempts: Attempt[] = [];
    const open = new Map<string, number>();
    for (const entry of entries) {
        const key = `${entry.kernelHash} ${entry.skill} ${entry.option}`;
        let at = open.get(key);
        if (at === undefined || entry.kind === 'plan') {
            at = attempts.length;
            open.set(key, at);
            const { time, kernel, kernelHash, skill } = entry;
            attempts.push({ id: `${at}`, time, kernel, kernelHash, skill, plan: '', edit: '', status: '', detail: '' });
        }
        attempts[at] = { ...attempts[at]!, ...told(entry) };
        if (entry.kind === 'verdict' || entry.kind === 'failure') open.delete(key);
    }
    return attempts.reverse();
}

function told(entry: MemoryEntry): Partial<Attempt> {
    const { time, detail, architecture, speedup, kept, diagnosis } = entry;
    switch (entry.kind) {
        case 'plan':
            return { plan: detail };
        case 'edit':
            return { edit: detail };
        case 'verdict':
        case 'failure':
            return { time, status: entry.status || entry.kind, detail, architecture, speedup, kept, diagnosis };
    }
}
