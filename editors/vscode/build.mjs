// Bundles the extension into dist/extension.js, with the licences of what it bundles beside it, or with --tests the
// tests into dist/test/, and those of its folders into dist/ and the same name.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import esbuild from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));
const tests = path.join(here, '../../tests/editors/vscode');
const common = { bundle: true, platform: 'node', target: 'node18', format: 'cjs', logLevel: 'warning', sourcemap: process.argv.includes('--tests') };

if (process.argv.includes('--tests')) {
    for (const folder of ['', 'workbench', 'packed', 'pictures', 'measured']) {
        const outdir = path.join(here, 'dist', folder || 'test');
        rmSync(outdir, { recursive: true, force: true });
        await esbuild.build({
            ...common,
            entryPoints: readdirSync(path.join(tests, folder))
                .filter((name) => name.endsWith('.test.ts'))
                .map((name) => path.join(tests, folder, name)),
            outdir,
            external: ['playwright-core'],
        });
    }
} else {
    const { metafile } = await esbuild.build({
        ...common,
        // Two files: the editor waits for the first, which loads the second when it has gone on.
        entryPoints: ['src/extension.ts', 'src/main.ts'],
        outdir: path.join(here, 'dist'),
        external: ['vscode', './main.js'],
        supported: { 'dynamic-import': false },
        loader: { '.css': 'text' },
        minify: true,
        metafile: true,
        absWorkingDir: here,
    });
    // The code of the webviews.
    await esbuild.build({
        ...common,
        platform: 'browser',
        target: 'es2022',
        format: 'iife',
        entryPoints: [path.join(here, 'src/webview/main.ts')],
        outfile: path.join(here, 'dist/webview.js'),
        minify: true,
    });
    writeFileSync(path.join(here, 'dist/third-party-licenses.txt'), licencesOf(Object.keys(metafile.inputs)));
}

/** Name, version and licence text of each npm package that a bundled file comes from. */
function licencesOf(files) {
    const folders = new Set();
    for (const file of files) {
        const match = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file);
        if (match) folders.add(path.join(here, match[0]));
    }
    const sections = [...folders].sort().map((folder) => {
        const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
        const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
        if (!file) throw new Error(`${name} ${version} (${license}) comes without its licence text`);
        return `${name} ${version} (${license})\n\n${readFileSync(path.join(folder, file), 'utf8').trim()}\n`;
    });
    return sections.join(`\n${'-'.repeat(80)}\n\n`);
}
