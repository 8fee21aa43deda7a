// Which names are written, and where: the important ones first, and none over
// another. Pure, so that it can be proved.

export interface Wanted {
  key: string;
  /** The middle of what is named, and how far it reaches. */
  x: number;
  y: number;
  reach: number;
  width: number;
  /** More is more important. */
  weight: number;
  /** A relation is named in its middle, not beside it. */
  inside?: boolean;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Written extends Box {
  key: string;
}

const [height, gap, cell] = [16, 5, 64];

/** Room remembers what is taken, by squares, so that few boxes are compared. Outside of its width and height nothing is free. */
export class Room {
  #cells = new Map<number, Box[]>();
  #width: number;
  #height: number;

  constructor(width = Infinity, height = Infinity) {
    this.#width = width;
    this.#height = height;
  }

  *#keys(b: Box): Generator<number> {
    for (let x = Math.floor(b.left / cell); x <= Math.floor(b.right / cell); x++) for (let y = Math.floor(b.top / cell); y <= Math.floor(b.bottom / cell); y++) yield x * 100_003 + y;
  }

  isFree(b: Box): boolean {
    if (b.left < 0 || b.top < 0 || b.right > this.#width || b.bottom > this.#height) return false;
    for (const k of this.#keys(b)) for (const o of this.#cells.get(k) ?? []) if (b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom) return false;
    return true;
  }

  take(b: Box): void {
    for (const k of this.#keys(b)) {
      const list = this.#cells.get(k);
      if (list) list.push(b);
      else this.#cells.set(k, [b]);
    }
  }
}

/** spots are where a name may be written, the best first. */
function spots(w: Wanted): Box[] {
  const at = (left: number, top: number): Box => ({ left, top, right: left + w.width, bottom: top + height });
  if (w.inside) return [at(w.x - w.width / 2, w.y - height / 2)];
  const away = w.reach + gap;
  return [at(w.x + away, w.y - height / 2), at(w.x - away - w.width, w.y - height / 2), at(w.x - w.width / 2, w.y + away), at(w.x - w.width / 2, w.y - away - height)];
}

/** write chooses what is written: at most so many, none over another. */
export function write(wanted: Wanted[], most: number, room = new Room()): Written[] {
  const out: Written[] = [];
  for (const w of [...wanted].sort((a, b) => b.weight - a.weight || (a.key < b.key ? -1 : 1))) {
    if (out.length >= most) break;
    const box = spots(w).find((b) => room.isFree(b));
    if (!box) continue;
    room.take(box);
    out.push({ key: w.key, ...box });
  }
  return out;
}
