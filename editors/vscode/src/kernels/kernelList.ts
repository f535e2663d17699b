// The kernels of the workspace as a list. Knows nothing of VS Code, so that it can be tested without one.

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
        readonly headroom: string;
        readonly evidence: readonly { readonly text: string }[];
    };
    /** Measured on a GPU. */
    readonly measured: { readonly microseconds: number; readonly roofline_percent: number | null; readonly gpu: string } | null;
    /** Estimated by a model from counted work: the min and the max, in seconds. */
    readonly roofline: { readonly seconds: readonly [number, number]; readonly gpu: string } | null;
}

export interface Entry {
    /** The kernel's file. */
    readonly uri: string;
    /** As the list shows the file. */
    readonly file: string;
    readonly kernel: Kernel;
}

export const orders = ['time', 'roofline', 'bottleneck', 'name', 'file'] as const;
export type Order = (typeof orders)[number];

/** The longest first, the farthest below the roofline first, the others by their spelling. What is not known comes last. */
export function sorted(entries: readonly Entry[], order: Order): Entry[] {
    const number = (value: number | null | undefined, sign: number) => (value == null ? Infinity : sign * value);
    const keys: { readonly [name in Order]: (entry: Entry) => number | string } = {
        time: ({ kernel }) => number(kernel.measured?.microseconds ?? modelled(kernel), -1),
        roofline: ({ kernel }) => number(kernel.measured?.roofline_percent, 1),
        bottleneck: ({ kernel }) => kernel.bottleneck.kind,
        name: ({ kernel }) => kernel.name,
        file: ({ file }) => file,
    };
    const key = keys[order];
    const compare = (a: number | string, b: number | string) => (a < b ? -1 : a > b ? 1 : 0);
    const line = (entry: Entry) => entry.kernel.selectionRange.start.line;
    return [...entries].sort(
        (a, b) => compare(key(a), key(b)) || compare(a.file, b.file) || compare(line(a), line(b)),
    );
}

/** "bank-conflicts · 72.1 µs · 88 % of roofline". */
export function summary(kernel: Kernel): string {
    return [kernel.bottleneck.kind, timeText(kernel), percentText(kernel)].filter((part) => part !== '').join(' · ');
}

function headroomOf(headroom: string): string {
    if (headroom === 'none') return ', at its limit';
    return headroom ? `, ${headroom} headroom` : '';
}

/** "high headroom, 3.1 µs to 5.36 µs on an H200 by the model", and the evidence. */
export function details(kernel: Kernel): string[] {
    const { bottleneck, measured, roofline } = kernel;
    const where = measured ? `, measured on ${measured.gpu}` : roofline ? `, by the model, on ${roofline.gpu}` : '';
    return [
        `${bottleneck.kind}${headroomOf(bottleneck.headroom)}`,
        ...(where ? [`${timeText(kernel)}${where}`] : []),
        ...bottleneck.evidence.map(({ text }) => text),
    ];
}

function timeText(kernel: Kernel): string {
    if (kernel.measured) return duration(kernel.measured.microseconds);
    if (!kernel.roofline) return '';
    const [low, high] = kernel.roofline.seconds;
    return `${duration(low * 1e6)} to ${duration(high * 1e6)} (model)`;
}

function percentText(kernel: Kernel): string {
    const percent = kernel.measured?.roofline_percent;
    return percent == null ? '' : `${percent.toFixed(0)} % of roofline`;
}

/** The least that the model allows. */
function modelled(kernel: Kernel): number | undefined {
    return kernel.roofline ? kernel.roofline.seconds[0] * 1e6 : undefined;
}

function duration(microseconds: number): string {
    if (microseconds >= 1e6) return `${(microseconds / 1e6).toPrecision(3)} s`;
    if (microseconds >= 1e3) return `${(microseconds / 1e3).toPrecision(3)} ms`;
    return microseconds >= 1 ? `${microseconds.toPrecision(3)} µs` : `${(microseconds * 1e3).toPrecision(3)} ns`;
}
