// Whether the first minute is over in this browser.
const key = 'lore.welcomed';

export function welcomed(): boolean {
  try {
    return localStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}

export function setWelcomed(): void {
  try {
    localStorage.setItem(key, '1');
  } catch {
    // then it is shown again
  }
}
