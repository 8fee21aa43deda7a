// Fragments are made node by node: no text ever becomes markup, so the page
// needs no policy for trusted HTML.
export default {
  compilerOptions: { runes: true, fragments: 'tree' },
};
