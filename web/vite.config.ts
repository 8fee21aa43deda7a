import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import tailwindcss from '@tailwindcss/vite';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

// licences writes the licences of all that was bundled beside the page.
function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_, bundle) {
      const found = new Set<string>(['tailwindcss', '@mermaid-js/tiny']);
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        for (const id of Object.keys(chunk.modules)) {
          const m = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id);
          if (m?.[1]) found.add(m[1]);
        }
      }
      const parts = [...found].sort().map((name) => {
        const dir = join(import.meta.dirname, 'node_modules', name);
        const { version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as { version: string; license: string };
        const file = readdirSync(dir).find((f) => /^licen[sc]e/i.test(f));
        return `${name} ${version} (${license})\n\n${file ? readFileSync(join(dir, file), 'utf8').trim() : ''}\n`;
      });
      this.emitFile({ type: 'asset', fileName: 'assets/licences.txt', source: parts.join('\n----\n\n') });
    },
  };
}

export default defineConfig({
  plugins: [tailwindcss(), svelte(), licences()],
  html: { cspNonce: '%NONCE%' }, // the server puts the word of each answer here
  build: {
    outDir: 'build', // scripts/finish.mjs makes dist of it
    emptyOutDir: true,
    target: 'es2023',
    cssCodeSplit: false,
    // What the first load needs is fetched at once; a view fetches its parts itself.
    modulePreload: { polyfill: false, resolveDependencies: (_, deps, { hostType }) => (hostType === 'html' ? deps : []) },
    assetsInlineLimit: 0,
    manifest: true,
    chunkSizeWarningLimit: 700,
  },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
  test: { environment: 'jsdom', include: ['src/**/*.test.ts'] },
});
