// The kernels of the workspace as a tree by file. Knows nothing of VS Code, so that it can be tested without one.

export interface Place {
    readonly line: number;
    readonly character: number;
}

/** An entry of the answer to kernelskill/kernels. */
export interface Kernel {
    readonly name: string;
    /** Line of the name, from 0. */
    readonly selectionRange: { readonly start: Place; readonly end: Place };
    readonly range: { readonly start: Place; readonly end: Place };
    readonly bottleneck: {
        readonly kind: string;
        /** "high", "medium", "low", "none"; empty: not known. */
        readonly headroom: string;
        /** The same as it is told everywhere: "8× headroom", "at its limit". */
        readonly headroom_text: string;
        /** How many times as fast the kernel may become at most, where counts tell. */
        readonly gain: { readonly at_most: number } | null;
        readonly evidence: readonly { readonly text: string }[];
    };
    /** Measured on a GPU. */
    readonly measured: { readonly microseconds: number; readonly roofline_percent: number | null; readonly gpu: string } | null;
    /** The least time by the roofline of the counts. */
    readonly roofline: { readonly least_seconds: number; readonly gpu: string } | null;
    /** Its part, 0 to 1, of the GPU's time in a program that was profiled. */
    readonly program: { readonly name: string; readonly share: number; readonly microseconds: number } | null;
}

export interface Entry {
    /** The kernel's file. */
    readonly uri: string;
    /** As the list shows the file. */
    readonly file: string;
    readonly kernel: Kernel;
}

/** A file with its kernels: a branch of the tree. */
export interface Group {
    readonly uri: string;
    readonly file: string;
    readonly entries: readonly Entry[];
}

export const orders = ['share', 'headroom', 'roofline', 'bottleneck', 'name', 'file'] as const;
export type Order = (typeof orders)[number];

const tiers = ['none', 'low', 'medium', 'high'];

/** Compares by share or headroom, the largest first, or by spelling. Unknown values come last. */
export function sorted(entries: readonly Entry[], order: Order): Entry[] {
    const number = (value: number | null | undefined, sign: number) => (value == null ? Infinity : sign * value);
    const keys: { readonly [name in Order]: (entry: Entry) => readonly (number | string)[] } = {
        // What a program spends in its kernels comes first: a single launch does not tell how many there are.
        share: ({ kernel }) => [number(kernel.program?.share, -1), number(kernel.measured?.microseconds ?? atLeast(kernel), -1)],
        // The tier is compared before the factor, because a factor is the estimate of a model.
        headroom: ({ kernel: { bottleneck } }) => [
            number(tierOf(bottleneck.headroom), -1),
            number(bottleneck.gain?.at_most, -1),
        ],
        roofline: ({ kernel }) => [number(kernel.measured?.roofline_percent, 1)],
        bottleneck: ({ kernel }) => [kernel.bottleneck.kind],
        name: ({ kernel }) => [kernel.name],
        file: ({ file }) => [file],
    };
    const key = keys[order];
    const compare = (a: number | string, b: number | string) => (a < b ? -1 : a > b ? 1 : 0);
    const compareAll = (a: readonly (number | string)[], b: readonly (number | string)[]) =>
        a.reduce<number>((decided, value, at) => decided || compare(value, b[at]!), 0);
    const line = (entry: Entry) => entry.kernel.selectionRange.start.line;
    return [...entries].sort(
        (a, b) => compareAll(key(a), key(b)) || compare(a.file, b.file) || compare(line(a), line(b)),
    );
}

/** The files in the order of their first kernel, each with its kernels in the order. */
export function grouped(entries: readonly Entry[], order: Order): Group[] {
    const groups = new Map<string, Entry[]>();
    for (const entry of sorted(entries, order)) {
        const group = groups.get(entry.uri);
        if (group) group.push(entry);
        else groups.set(entry.uri, [entry]);
    }
    return [...groups].map(([uri, entries]) => ({ uri, file: entries[0]!.file, entries }));
}

/** The kernels whose name, file or bottleneck contains every word. */
export function filtered(entries: readonly Entry[], filter: string): Entry[] {
    const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== '');
    return entries.filter(({ file, kernel }) => {
        const text = `${kernel.name} ${file} ${kernel.bottleneck.kind} ${kernel.bottleneck.headroom_text}`.toLowerCase();
        return words.every((word) => text.includes(word));
    });
}

/** The possible gain as a level, which chooses the icon. */
export type Severity = 'high' | 'medium' | 'low' | 'unknown';

export function severityOf({ bottleneck }: Kernel): Severity {
    if (bottleneck.headroom === 'high' || bottleneck.headroom === 'medium') return bottleneck.headroom;
    return bottleneck.headroom === '' ? 'unknown' : 'low';
}

/**
 * "62 % in small · bank-conflicts · 32× headroom · 72.1 µs, 40 % of the time · 88 % of roofline"; `total` is that of all measured
 * kernels, which counts only where no program was profiled.
 */
export function summary(kernel: Kernel, total = 0): string {
    const { kind, headroom_text } = kernel.bottleneck;
    return [programText(kernel), kind, headroom_text, timeText(kernel) + (kernel.program ? '' : shareText(kernel, total)), percentText(kernel)]
        .filter((part) => part !== '')
        .join(' · ');
}

/** The sum of all measured times, in microseconds. */
export function totalOf(entries: readonly Entry[]): number {
    return entries.reduce((sum, { kernel }) => sum + (kernel.measured?.microseconds ?? 0), 0);
}

/** "bank-conflicts, 32× headroom", "at least 3.1 µs on an H200 (roofline of the counts)", and the evidence. */
export function details(kernel: Kernel): string[] {
    const { bottleneck, measured, roofline } = kernel;
    const where = measured ? `, measured on ${measured.gpu}` : roofline ? ` on ${roofline.gpu} (roofline of the counts, not measured)` : '';
    return [
        [bottleneck.kind, bottleneck.headroom_text].filter((part) => part !== '').join(', '),
        ...(kernel.program
            ? [`${(100 * kernel.program.share).toFixed(1)} % of GPU time, ${duration(kernel.program.microseconds)} in ${kernel.program.name}`]
            : []),
        ...(where ? [`${timeText(kernel)}${where}`] : []),
        ...bottleneck.evidence.map(({ text }) => text),
    ];
}

function programText({ program }: Kernel): string {
    return program ? `${(100 * program.share).toFixed(0)} % in ${program.name}` : '';
}

function tierOf(headroom: string): number | undefined {
    const tier = tiers.indexOf(headroom);
    return tier < 0 ? undefined : tier;
}

function timeText(kernel: Kernel): string {
    if (kernel.measured) return duration(kernel.measured.microseconds);
    const least = atLeast(kernel);
    return least === undefined ? '' : `at least ${duration(least)}`;
}

function shareText(kernel: Kernel, total: number): string {
    const own = kernel.measured?.microseconds ?? 0;
    return own > 0 && total > own ? `, ${((100 * own) / total).toFixed(0)} % of the time` : '';
}

function percentText(kernel: Kernel): string {
    const percent = kernel.measured?.roofline_percent;
    return percent == null ? '' : `${percent.toFixed(0)} % of roofline`;
}

/** The least time that the roofline allows, in microseconds. */
function atLeast(kernel: Kernel): number | undefined {
    return kernel.roofline ? kernel.roofline.least_seconds * 1e6 : undefined;
}

function duration(microseconds: number): string {
    if (microseconds >= 1e6) return `${(microseconds / 1e6).toPrecision(3)} s`;
    if (microseconds >= 1e3) return `${(microseconds / 1e3).toPrecision(3)} ms`;
    return microseconds >= 1 ? `${microseconds.toPrecision(3)} µs` : `${(microseconds * 1e3).toPrecision(3)} ns`;
}
