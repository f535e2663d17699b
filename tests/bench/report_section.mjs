// Reports of several measurements in one file, a section each: writing one leaves the others as they are.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Puts `body` below "## heading" of the Markdown `file`, which gets "# title" when it is new. */
export function writeSection(file, title, heading, body) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : `# ${title}\n\n`;
    const [head, ...sections] = text.split(/^(?=## )/m);
    const section = `## ${heading}\n\n${body.trim()}\n\n`;
    const at = sections.findIndex((other) => other.startsWith(`## ${heading}\n`));
    if (at >= 0) sections[at] = section;
    else sections.push(section);
    const whole = [head, ...sections].map((part) => `${part.trimEnd()}\n`).join('\n');
    writeFileSync(file, whole);
}
