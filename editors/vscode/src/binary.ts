// Finds the kernelskill executable: the explicit setting, then PATH, then the one that comes with the extension.
// Knows nothing of VS Code, so that it can be tested without one.
import * as path from 'node:path';

export interface Surroundings {
    /** The setting kernelskill.server.path; empty when it is not set. */
    readonly setting: string;
    readonly pathVariable: string;
    readonly home: string;
    /** The server that comes with the extension, unpacked or still to be; undefined without one. */
    readonly bundled: string | undefined;
    readonly isExecutable: (file: string) => boolean;
}

export type Found =
    | { readonly kind: 'found'; readonly file: string; readonly origin: 'setting' | 'PATH' | 'bundled' }
    | { readonly kind: 'missing'; readonly problem: string };

const executableName = process.platform === 'win32' ? 'kernelskill.exe' : 'kernelskill';

export function findServer(surroundings: Surroundings): Found {
    if (surroundings.setting !== '') {
        const file = expandHome(surroundings.setting, surroundings.home);
        // A setting that is wrong is never replaced by a guess: another version would answer unnoticed.
        return surroundings.isExecutable(file)
            ? { kind: 'found', file, origin: 'setting' }
            : { kind: 'missing', problem: `kernelskill.server.path is "${file}", which is not an executable file.` };
    }
    for (const directory of surroundings.pathVariable.split(path.delimiter)) {
        // An empty or relative entry would mean the workspace's folder, whose files are not trusted to run.
        if (!path.isAbsolute(directory)) continue;
        const file = path.join(directory, executableName);
        if (surroundings.isExecutable(file)) return { kind: 'found', file, origin: 'PATH' };
    }
    if (surroundings.bundled) return { kind: 'found', file: surroundings.bundled, origin: 'bundled' };
    return {
        kind: 'missing',
        problem: 'There is no kernelskill executable on PATH. Install the extension’s package for your platform, build it with script/demo, or set kernelskill.server.path.',
    };
}

/** Says how "kernelskill 0.1.2" and "0.1.0" differ; empty where they go together: their minor versions are equal. */
export function versionProblem(server: string, extension: string, { file, origin }: Found & { kind: 'found' }): string {
    const [of, wanted] = [server, extension].map((text) => /(\d+\.\d+)\.\d+/.exec(text)?.[1]);
    if (of === wanted) return '';
    return (
        `${file} (found through: ${origin}) is ${server}, the extension is ${extension}. ` +
        'Install the same version of both, or clear kernelskill.server.path to use the one that comes with the extension.'
    );
}

function expandHome(file: string, home: string): string {
    return file === '~' || file.startsWith('~/') ? path.join(home, file.slice(1)) : file;
}
