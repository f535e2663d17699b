// The server that comes with the extension as one archive, as pack-server.mjs makes it. It is unpacked once for each
// content, into a folder of the extension's own. Knows nothing of VS Code, so that it can be tested without one.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import * as path from 'node:path';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';

const prefix = 'server-';
const partialPrefix = 'partial-';
/** An unpacking that was begun so long ago was interrupted; milliseconds. */
const interruptedAfter = 3_600_000;
const otherwise = 'or install kernelskill yourself and set kernelskill.server.path.';

interface Content {
    /** Bytes of the archive, uncompressed. */
    readonly bytes: number;
    readonly sha256: string;
}

export class BundledServer {
    readonly executable: string;
    private readonly folder: string;

    private constructor(
        private readonly archive: string,
        private readonly content: Content,
        private readonly storage: string,
        version: string,
    ) {
        this.folder = path.join(storage, `${prefix}${version}-${content.sha256.slice(0, 12)}`);
        this.executable = path.join(this.folder, 'bin', 'kernelskill');
    }

    /** `storage` need not exist. Undefined where the extension comes without a server. */
    static of(extensionDirectory: string, storage: string, version: string): BundledServer | undefined {
        const description = path.join(extensionDirectory, 'server.json');
        if (!existsSync(description)) return undefined;
        const content = JSON.parse(readFileSync(description, 'utf8')) as Content;
        return new BundledServer(path.join(extensionDirectory, 'server.tar.br'), content, storage, version);
    }

    isUnpacked(): boolean {
        return existsSync(this.folder);
    }

    /**
     * The folder appears when it is whole. Several windows may unpack at once: the first one's stays. `report` hears
     * what part is done, 0 to 1. Fails with what happened and what to do.
     */
    async unpack(report: (part: number) => void, freeBytes = freeBytesOf): Promise<void> {
        await mkdir(this.storage, { recursive: true });
        await this.removeInterrupted();
        const free = await freeBytes(this.storage);
        if (free < this.content.bytes) {
            throw new Error(
                `Unpacking the server takes ${mebibytes(this.content.bytes)} in ${this.storage}, where ${mebibytes(free)} are left. ` +
                    `Make room, ${otherwise}`,
            );
        }
        const partial = await mkdtemp(path.join(this.storage, partialPrefix));
        try {
            const tree = path.join(partial, 'tree');
            await mkdir(tree);
            await this.extract(tree, report);
            await rename(tree, this.folder).catch((error: NodeJS.ErrnoException) => {
                if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
            });
        } finally {
            await rm(partial, { recursive: true, force: true });
        }
    }

    /** So that it is unpacked again; unless another window runs it. */
    async discard(): Promise<void> {
        await removeUnused(this.folder);
    }

    /** Removes servers that other versions of the extension have unpacked, unless a window runs them. */
    async removeOthers(): Promise<void> {
        for (const name of await readdir(this.storage)) {
            const folder = path.join(this.storage, name);
            if (name.startsWith(prefix) && folder !== this.folder) await removeUnused(folder);
        }
    }

    private async extract(tree: string, report: (part: number) => void): Promise<void> {
        const tar = spawn('tar', ['-x', '-o', '-f', '-', '-C', tree], { stdio: ['pipe', 'ignore', 'pipe'] });
        let complaint = '';
        tar.stderr.on('data', (piece: Buffer) => (complaint ||= piece.toString()));
        const ended = new Promise<number | null>((resolve, reject) => {
            tar.once('error', reject);
            tar.once('close', resolve);
        });
        const digest = createHash('sha256');
        let bytes = 0;
        const counted = new Transform({
            transform: (piece: Buffer, _, done) => {
                digest.update(piece);
                bytes += piece.length;
                report(Math.min(1, bytes / this.content.bytes));
                done(undefined, piece);
            },
        });
        // A tar may stop reading before the end, when it has all it wants or gives up; what is read here is read whole.
        tar.stdin.on('error', () => undefined);
        const input = new Writable({ write: (piece: Buffer, _, done) => void tar.stdin.write(piece, () => done()) });
        const chunkSize = 1 << 20;
        const reading = pipeline(createReadStream(this.archive), createBrotliDecompress({ chunkSize }), counted, input);
        const [read, wrote] = await Promise.allSettled([reading.finally(() => tar.stdin.end()), ended]);
        if (wrote.status === 'rejected') {
            throw new Error(`The server cannot be unpacked: tar does not start (${wrote.reason.message}). Install tar, ${otherwise}`);
        }
        if (read.status === 'rejected' || digest.digest('hex') !== this.content.sha256) {
            throw new Error(`${this.archive} is damaged. Install the extension again, ${otherwise}`);
        }
        if (wrote.value !== 0) {
            throw new Error(`The server could not be unpacked in ${this.storage}: ${complaint.split('\n')[0]}. Mend that, ${otherwise}`);
        }
    }

    private async removeInterrupted(): Promise<void> {
        for (const name of await readdir(this.storage)) {
            if (!name.startsWith(partialPrefix)) continue;
            const folder = path.join(this.storage, name);
            const begun = await stat(folder).then(({ mtimeMs }) => mtimeMs, () => Infinity); // gone: another window's
            if (Date.now() - begun > interruptedAfter) await rm(folder, { recursive: true, force: true });
        }
    }
}

async function freeBytesOf(folder: string): Promise<number> {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
}

async function removeUnused(folder: string): Promise<void> {
    if (!isInUse(folder)) await rm(folder, { recursive: true, force: true });
}

/** Whether a process of this machine runs a program of the folder, as Linux tells. */
function isInUse(folder: string): boolean {
    return readdirSync('/proc').some((entry) => {
        try {
            return /^\d+$/.test(entry) && readlinkSync(`/proc/${entry}/exe`).startsWith(folder + path.sep);
        } catch {
            return false; // it has ended, or belongs to another user
        }
    });
}

function mebibytes(bytes: number): string {
    return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}
