// Bundles the extension into dist/extension.js, or with --tests the tests into dist/test/*.test.js.
import { readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import esbuild from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));
const tests = path.join(here, '../../tests/editors/vscode');
const common = { bundle: true, platform: 'node', target: 'node18', format: 'cjs', logLevel: 'warning', sourcemap: process.argv.includes('--tests') };

if (process.argv.includes('--tests')) {
    rmSync(path.join(here, 'dist/test'), { recursive: true, force: true });
    await esbuild.build({
        ...common,
        entryPoints: readdirSync(tests).filter((name) => name.endsWith('.test.ts')).map((name) => path.join(tests, name)),
        outdir: path.join(here, 'dist/test'),
    });
} else {
    await esbuild.build({
        ...common,
        entryPoints: [path.join(here, 'src/extension.ts')],
        outfile: path.join(here, 'dist/extension.js'),
        external: ['vscode'], // provided by the editor
        minify: true,
    });
}
