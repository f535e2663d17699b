// The server's results as Markdown. The shapes are those of the command line's --json output.

export interface Profile {
    readonly kernel: string;
    readonly executor?: string;
    readonly launch?: { readonly grid: Dimensions; readonly block: Dimensions; readonly shared_bytes?: number };
    readonly metrics?: { readonly [name: string]: number };
    readonly hazards?: readonly { readonly kind: string; readonly line: number; readonly message: string }[];
    readonly bottleneck?: {
        readonly kind: string;
        readonly headroom?: string;
        readonly gain?: { readonly text: string } | null;
        readonly evidence?: readonly (string | { readonly text: string })[];
    };
}

export interface Memory {
    readonly file?: string;
    readonly entries?: readonly { readonly [field: string]: unknown }[];
}

type Dimensions = readonly number[] | { readonly x: number; readonly y: number; readonly z: number };

export function isProfile(value: unknown): value is Profile {
    return typeof value === 'object' && value !== null && typeof (value as Profile).kernel === 'string';
}

export function profileReport(profile: Profile): string {
    const lines = [`# ${profile.kernel}`, ''];
    if (profile.bottleneck) {
        const { kind, headroom, evidence } = profile.bottleneck;
        lines.push(`**Bottleneck: ${kind}**${headroom ? `, headroom ${headroom}` : ''}`, '');
        if (profile.bottleneck.gain) lines.push(profile.bottleneck.gain.text, '');
        for (const item of evidence ?? []) lines.push(`- ${typeof item === 'string' ? item : item.text}`);
        lines.push('');
    }
    if (profile.launch) {
        const { grid, block, shared_bytes } = profile.launch;
        lines.push(
            `Launch: grid ${dimensions(grid)}, block ${dimensions(block)}, ${shared_bytes ?? 0} bytes of dynamic ` +
                `shared memory, on the ${profile.executor ?? 'emulator'}.`,
            '',
        );
    }
    if (profile.hazards?.length) {
        lines.push('## Hazards', '');
        for (const hazard of profile.hazards) {
            lines.push(`- line ${hazard.line + 1}: **${hazard.kind}**: ${hazard.message}`);
        }
        lines.push('');
    }
    const metrics = Object.entries(profile.metrics ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
    if (metrics.length > 0) {
        lines.push('## Metrics', '', '| metric | value |', '|---|---:|');
        for (const [name, value] of metrics) lines.push(`| \`${name}\` | ${number(value)} |`);
        lines.push('');
    }
    return lines.join('\n');
}

export function memoryReport(memory: Memory): string {
    const lines = ['# What was tried', ''];
    if (memory.file) lines.push(`\`${memory.file}\``, '');
    if (!memory.entries?.length) {
        lines.push('Nothing was tried on this file yet.', '');
        return lines.join('\n');
    }
    lines.push('| time | what | kernel | skill | status | detail |', '|---|---|---|---|---|---|');
    for (const entry of memory.entries) {
        const cells = ['time', 'kind', 'kernel', 'skill', 'status', 'detail'].map((field) => cell(entry[field]));
        lines.push(`| ${cells.join(' | ')} |`);
    }
    lines.push('');
    return lines.join('\n');
}

function dimensions(value: Dimensions): string {
    return ('x' in value ? [value.x, value.y, value.z] : value).join(' × ');
}

function number(value: number): string {
    return Number.isInteger(value) ? value.toLocaleString('en-US') : value.toPrecision(4);
}

function cell(value: unknown): string {
    return value === undefined || value === null ? '' : String(value).replace(/\|/g, '\\|').replace(/\s+/g, ' ');
}
