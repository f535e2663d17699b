// Programs on the stand-in of driver and CUPTI, which runs kernels on the host: a launch takes 10 ns a thread.
import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { kernelskill, type Session } from './session';
import { Workbench } from './workbench';

/** Built with the tests, where CUDA's headers are. */
const folder = path.join(path.dirname(kernelskill), '../tests/engine/capture/fake_gpu');
const isBuilt = existsSync(path.join(folder, 'fake-nvcc')) && existsSync(path.join(folder, 'libcupti.so.13'));

/** Settings by which `file` is built to programs of these names. */
export function standInSettings(file: string, names: readonly string[]): { readonly [name: string]: unknown } {
    const toolkit = mkdtempSync(path.join(tmpdir(), 'kernelskill-toolkit-'));
    for (const part of ['include', 'lib64']) mkdirSync(path.join(toolkit, part));
    writeFileSync(path.join(toolkit, 'include/cuda_runtime.h'), '');
    symlinkSync(path.join(folder, 'libcupti.so.13'), path.join(toolkit, 'lib64/libcupti.so'));
    const program = (name: string) => ({
        command: `./${name}`,
        build: `${path.join(folder, 'fake-nvcc')} ${file} ${name}`,
        environment: { LD_LIBRARY_PATH: folder },
    });
    return {
        'kernelskill.parse.cudaPath': toolkit,
        'kernelskill.program': Object.fromEntries(names.map((name) => [name, program(name)])),
    };
}

type Test = (name: string, body: (session: Session) => Promise<void>) => void;

/** A test that passes where the stand-in was not built. */
export function onStandIn(test: Test): (name: string, body: (session: Session, workbench: Workbench) => Promise<void>) => void {
    return (name, body) =>
        test(name, async (session) => {
            if (isBuilt) await body(session, new Workbench(session.page));
        });
}
