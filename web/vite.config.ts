import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';
import { leanPreact } from './lean-preact.ts';
import { DOCUMENTS } from './src/frame/words/documents.ts';
import type { Language } from './src/frame/words/documents.ts';
import { catalogue as ar } from './src/frame/words/ar.ts';
import { catalogue as de } from './src/frame/words/de.ts';
import { en } from './src/frame/words/en.ts';
import { catalogue as es } from './src/frame/words/es.ts';
import { catalogue as fr } from './src/frame/words/fr.ts';
import { partOf } from './src/frame/words/parts.ts';
import type { Part } from './src/frame/words/parts.ts';
import { catalogue as pt } from './src/frame/words/pt.ts';

// Vite loads each chunk through a helper that preloads its style sheets. The chunks of the frame
// and the portal have none, and the helper would be a sixtieth of the frame.
const plainImports = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id: string) =>
    id.includes('vite/preload-helper')
      ? 'export const __vitePreload = (load) => load();'
      : undefined,
} as const;

/**
 * Compresses with several sizes of block and returns the smallest result: which size is best
 * differs between files. Of Brotli's modes, this one makes our scripts smallest, by 0.1 to 0.3 %.
 */
function smallestBrotli(content: Buffer): Buffer {
  const encodings = [16, 17, 18, 19].map((block) =>
    brotliCompressSync(content, {
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_FONT,
        [constants.BROTLI_PARAM_LGBLOCK]: block,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  );
  return encodings.reduce((best, one) => (one.length < best.length ? one : best));
}

/** Compressing takes seconds, and each build would warn about that. */
const CHECKS = { pluginTimings: false };

// Python has no module for Brotli, so the service is given the compressed files.
const compressed = {
  name: 'compressed',
  writeBundle({ dir }: { dir?: string }, bundle: Record<string, unknown>) {
    for (const name of Object.keys(bundle).filter((file) => /\.(js|css)$/.test(file))) {
      const content = readFileSync(`${dir}/${name}`);
      writeFileSync(`${dir}/${name}.br`, smallestBrotli(content));
    }
  },
} as const;

const CATALOGUES = { ar, de, en, es, fr, pt };
const LANGUAGES = Object.keys(DOCUMENTS) as Language[];

/**
 * Puts the texts of one language into the frame's script, so that the frame's first view needs no
 * further request. The other catalogues are loaded when the host page asks for one.
 */
function withLanguage(language: Language): Plugin {
  const { title, noscript } = DOCUMENTS[language];
  const direction = language === 'ar' ? 'rtl' : 'ltr';
  const others = LANGUAGES.filter((other) => other !== language);
  const textsOf = (part: Part | null): string =>
    JSON.stringify(
      Object.fromEntries(
        Object.entries(CATALOGUES[language]).filter(([key]) => partOf(key) === part),
      ),
    );
  const own = `export const OWN = ${textsOf(null)};
export const LANGUAGE = '${language}';
export const OTHERS = { ${others.map((other) => `${other}: () => import('./${other}')`)} };`;
  const texts = new Map([
    ['own.ts', own],
    ['own-chess.ts', `export const words = ${textsOf('chess')};`],
    ['own-discs.ts', `export const words = ${textsOf('discs')};`],
  ]);
  return {
    name: 'language',
    enforce: 'pre',
    load: (id) => texts.get(id.replace(/.*\//, '')),
    transformIndexHtml: (document) =>
      document
        .replace('lang="en"', `lang="${language}" dir="${direction}"`)
        .replace(/<title>.*</, `<title>${title}<`)
        .replace(/<noscript>.*</, `<noscript>${noscript}<`)
        .replace(/ (\/|crossorigin(?= ))/g, '')
        .replace(/>\s+</g, '><'),
    writeBundle: ({ dir }) => renameSync(`${dir}/frame.html`, `${dir}/frame.${language}.html`),
  };
}

/**
 * The first browsers with light-dark(). For older ones Vite writes it so that it follows the
 * system alone; a theme could not set the colour scheme.
 */
const WITH_SCHEMES = ['chrome123', 'firefox120', 'safari17.5'];

const preact = { jsx: { runtime: 'automatic', importSource: 'preact' } } as const;

// `--mode frame-de` builds the German frame that the service serves, `--mode demo` the page of the
// demo's partner, `--mode portal` the portal, `--mode units` the unit tests for Node.
export default defineConfig(({ mode }) => {
  if (mode === 'units') {
    const input = readdirSync('tests')
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `tests/${name}`);
    return {
      oxc: preact,
      publicDir: false,
      build: {
        ssr: true,
        outDir: 'dist/units',
        emptyOutDir: true,
        rolldownOptions: { input, checks: CHECKS },
        minify: false,
      },
    };
  }
  if (mode === 'portal') {
    return {
      oxc: preact,
      plugins: [plainImports, compressed],
      publicDir: false,
      base: '/portal/',
      build: {
        outDir: 'dist/portal',
        emptyOutDir: true,
        target: 'es2022',
        cssTarget: WITH_SCHEMES,
        modulePreload: false,
        assetsInlineLimit: 0,
        rolldownOptions: {
          input: ['portal.html', 'preview.html'],
          checks: CHECKS,
          // The code that several pages share is one file, and so are pages that are often read
          // one after the other: fewer requests, better compression.
          output: {
            codeSplitting: {
              minSize: 4000,
              groups: [
                { name: 'shared', test: /src\/(portal|design)\//, minShareCount: 2 },
                { name: 'account', test: /pages\/(account|event|member|security|terms|version)/ },
                { name: 'billing', test: /pages\/(invoice|usage)/ },
                { name: 'find', test: /pages\/(find|match|seats)/ },
                { name: 'watch', test: /portal\/(now|try)\/|pages\/(now|try)\W/ },
                { name: 'access', test: /pages\/(games|key|origins|prices|theme|webhook)/ },
              ],
            },
          },
        },
      },
    };
  }
  if (mode === 'demo') {
    return {
      oxc: preact,
      publicDir: false,
      build: {
        outDir: 'dist/demo',
        emptyOutDir: true,
        target: 'es2022',
        modulePreload: false,
        rolldownOptions: {
          input: 'src/demo/main.tsx',
          checks: CHECKS,
          output: { entryFileNames: 'site.js', assetFileNames: 'site[extname]' },
        },
      },
    };
  }
  const language = LANGUAGES.find((one) => mode === `frame-${one}`);
  if (language === undefined) throw new Error(`no such build: ${mode}`);
  return {
    oxc: preact,
    plugins: [plainImports, leanPreact, withLanguage(language), compressed],
    base: '/embed/',
    // The service replaces this mark by a new nonce in every document.
    html: { cspNonce: '%PGS_NONCE%' },
    build: {
      outDir: 'dist/frame',
      // All languages share the folder. The first one empties it.
      emptyOutDir: language === LANGUAGES[0],
      target: 'es2022',
      cssTarget: WITH_SCHEMES,
      modulePreload: false,
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: 'frame.html',
        checks: CHECKS,
        output: {
          entryFileNames: 'pgs-frame-[hash].js',
          chunkFileNames: 'pgs-frame-[hash].js',
          assetFileNames: 'pgs-frame-[hash][extname]',
        },
      },
    },
  };
});
