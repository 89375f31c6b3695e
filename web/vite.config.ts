import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { defineConfig } from 'vite';

// Vite loads each chunk through a helper that preloads its style sheets. The frame's chunks have
// none, and the helper would be a sixtieth of the frame.
const plainImports = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id: string) =>
    id.includes('vite/preload-helper')
      ? 'export const __vitePreload = (load) => load();'
      : undefined,
} as const;

// Python has no module for Brotli, so the service is given the compressed files.
const compressed = {
  name: 'compressed',
  writeBundle({ dir }: { dir?: string }, bundle: Record<string, unknown>) {
    for (const name of Object.keys(bundle).filter((file) => /\.(js|css)$/.test(file))) {
      writeFileSync(`${dir}/${name}.br`, brotliCompressSync(readFileSync(`${dir}/${name}`)));
    }
  },
} as const;

const preact = { jsx: { runtime: 'automatic', importSource: 'preact' } } as const;

// `--mode frame` builds the frame that the service serves, `--mode demo` the page of the demo's
// partner, `--mode portal` the portal, `--mode units` the unit tests for Node.
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
        rolldownOptions: { input },
        minify: false,
      },
    };
  }
  if (mode === 'portal') {
    return {
      oxc: preact,
      plugins: [compressed],
      publicDir: false,
      base: '/portal/',
      build: {
        outDir: 'dist/portal',
        emptyOutDir: true,
        target: 'es2022',
        modulePreload: false,
        assetsInlineLimit: 0,
        rolldownOptions: {
          input: ['portal.html', 'preview.html'],
          // What several pages share is one file: fewer requests, and it compresses better.
          output: {
            codeSplitting: {
              minSize: 4000,
              groups: [{ name: 'shared', test: /src\/(portal|design)\//, minShareCount: 2 }],
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
          output: { entryFileNames: 'site.js', assetFileNames: 'site[extname]' },
        },
      },
    };
  }
  return {
    oxc: preact,
    plugins: [plainImports],
    base: '/embed/',
    // The service replaces this mark by a new nonce in every document.
    html: { cspNonce: '%PGS_NONCE%' },
    build: {
      outDir: 'dist/frame',
      emptyOutDir: true,
      target: 'es2022',
      // The first browsers with light-dark(): Vite leaves it as it is, so that a theme can set
      // the colour scheme.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      modulePreload: false,
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: 'frame.html',
        output: {
          entryFileNames: 'pgs-frame-[hash].js',
          chunkFileNames: 'pgs-frame-[hash].js',
          assetFileNames: 'pgs-frame-[hash][extname]',
        },
      },
    },
  };
});
