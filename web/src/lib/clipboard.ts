// Text for the clipboard. A page that is not served securely may not write to it
// directly; there, the old command still copies what is selected.

/** copyText copies text, and reports whether the browser allowed it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const had = document.activeElement;
  const box = document.createElement('textarea');
  box.value = text;
  box.className = 'sr';
  document.body.append(box);
  box.select();
  let ok = false;
  try {
    ok = document.execCommand('copy');
  } catch {
    // it stays false
  }
  box.remove();
  if (had instanceof HTMLElement) had.focus();
  return ok;
}
