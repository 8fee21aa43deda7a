// Whether notes are saved while they are written. Kept in this browser alone.

const key = 'lore.autosave';

/** The time without a key after which a note is saved. */
export const pause = 2000;

class Autosave {
  on = $state(stored());

  set(on: boolean): void {
    this.on = on;
    try {
      if (on) localStorage.removeItem(key);
      else localStorage.setItem(key, 'off');
    } catch {
      // a browser that stores nothing has it until the page is closed
    }
  }
}

function stored(): boolean {
  try {
    return localStorage.getItem(key) !== 'off';
  } catch {
    return true;
  }
}

export const autosave = new Autosave();
