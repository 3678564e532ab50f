// Builds the page into dist/; `node build.mjs tests` builds and runs the unit tests instead.
import {spawnSync} from 'node:child_process';
import {copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {build} from 'esbuild';

const options = {
  bundle: true,
  format: 'esm',
  target: 'chrome130',
  logLevel: 'warning',
  charset: 'utf8',
};

if (process.argv[2] === 'tests') {
  rmSync('build', {recursive: true, force: true});
  const entryPoints = readdirSync('tests', {recursive: true})
    .filter(name => name.endsWith('.test.ts'))
    .map(name => `tests/${name}`);
  await build({...options, entryPoints, platform: 'node', target: 'node20', outdir: 'build', outExtension: {'.js': '.mjs'}});
  const tests = readdirSync('build', {recursive: true}).filter(name => name.endsWith('.mjs')).map(name => `build/${name}`);
  process.exitCode = spawnSync(process.execPath, ['--test', ...tests], {stdio: 'inherit'}).status ?? 1;
} else {
  rmSync('dist', {recursive: true, force: true});
  mkdirSync('dist');
  // What rooms need is a file of its own, which is loaded where a room is used
  const {metafile} = await build({
    ...options, entryPoints: ['src/main.ts'], outdir: 'dist', splitting: true, minify: true, legalComments: 'none', metafile: true});
  copyFileSync('index.html', 'dist/index.html');
  writeFileSync('dist/LICENCES.txt', licences(Object.keys(metafile.inputs)));
}

/** The licences of all packages that files of the page come from. */
function licences(files) {
  const folders = new Set(files.map(file => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter(Boolean));
  return [...folders].sort().map(folder => {
    const {name, version, license} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const texts = readdirSync(folder).filter(file => /^(licen[cs]e|notice)/i.test(file)).map(file => readFileSync(join(folder, file), 'utf8'));
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  }).join('\n\n----\n\n');
}
