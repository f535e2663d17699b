// A folder's content, to be compared.
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';

/** Each file below the folder by its name: its kind, its rights and the SHA-256 of its bytes, or the target of a link. */
export function digestsOf(folder: string): { readonly [name: string]: string } {
    const names = (readdirSync(folder, { recursive: true }) as string[]).sort();
    return Object.fromEntries(
        names.map((name) => {
            const file = path.join(folder, name);
            const stat = lstatSync(file);
            if (stat.isSymbolicLink()) return [name, `link ${readlinkSync(file)}`];
            const rights = (stat.mode & 0o777).toString(8);
            if (stat.isDirectory()) return [name, `folder ${rights}`];
            return [name, `file ${rights} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`];
        }),
    );
}
