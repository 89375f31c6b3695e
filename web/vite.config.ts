import { readdirSync } from 'node:fs';
import { defineConfig } from 'vite';

const preact = { jsx: { runtime: 'automatic', importSource: 'preact' } } as const;

// `--mode frame` builds the frame that the service serves, `--mode units` the unit tests for Node.
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
  return {
    oxc: preact,
    base: '/embed/',
    // The service replaces this mark by a new nonce in every document.
    html: { cspNonce: '%PGS_NONCE%' },
    build: {
      outDir: 'dist/frame',
      emptyOutDir: true,
      target: 'es2022',
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
