// Applies a unified diff. Knows nothing of VS Code, so that it can be tested without one.

/** The text that the diff makes of this one, or undefined where it is for another text or for several files. */
export function patched(text: string, diff: string): string | undefined {
    const before = text.split('\n');
    const after: string[] = [];
    let at = 0; // lines of `before` that are in `after`
    let files = 0;
    const lines = diff.split('\n');
    for (let i = 0; i < lines.length; ) {
        const line = lines[i++]!;
        if (line.startsWith('--- ')) {
            if (++files > 1) return undefined;
            continue;
        }
        const hunk = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
        if (!hunk) continue;
        let [olds, news] = [Number(hunk[2] ?? 1), Number(hunk[3] ?? 1)];
        const start = Number(hunk[1]) - (olds === 0 ? 0 : 1); // of nothing, the line before is named
        if (start < at) return undefined;
        after.push(...before.slice(at, start));
        at = start;
        while (olds > 0 || news > 0) {
            const edit = lines[i++];
            if (edit === undefined) return undefined;
            if (edit.startsWith('\\')) continue; // no newline at the end of the file
            const rest = edit.slice(1);
            const sign = edit === '' ? ' ' : edit[0];
            if (sign !== '+' && before[at++] !== rest) return undefined;
            if (sign !== '+') --olds;
            if (sign !== '-') {
                after.push(rest);
                --news;
            }
        }
    }
    return [...after, ...before.slice(at)].join('\n');
}
