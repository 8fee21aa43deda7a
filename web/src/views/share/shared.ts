// What another app shares, as a note. Pure, so that it can be proved.

export interface Shared {
  title: string;
  text: string;
  url: string;
}

/** sharedIn reads what was shared from the address. Some apps put the link into the text. */
export function sharedIn(q: URLSearchParams): Shared {
  const text = (q.get('text') ?? '').trim();
  const link = (q.get('url') ?? '').trim();
  return { title: (q.get('title') ?? '').trim(), text: text === link ? '' : text, url: /^https?:\/\//i.test(link) ? link : '' };
}

/** nameOf is a name for the note, which every file system takes. */
export function nameOf(s: Shared, now = new Date()): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  const first = s.title || (s.text.split('\n', 1)[0] ?? '');
  const name = first.replace(/https?:\/\/\S+/g, ' ').replace(/[\p{C}\\/:*?"<>|#^[\]]/gu, ' ').replace(/\s+/g, ' ').replace(/^[. ]+|[. ]+$/g, '').slice(0, 80).trim();
  return name || `Shared ${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())} ${two(now.getHours())}.${two(now.getMinutes())}`;
}

/** noteOf is the text of the note. Text from outside can hold instructions for a model, so it is marked. */
export function noteOf(s: Shared, name: string, marked: boolean): string {
  const parts = [`# ${name}`, s.text, s.url ? `<${s.url.replace(/[<>\s]/g, encodeURIComponent)}>` : ''].filter(Boolean);
  return `${marked ? '---\nuntrusted: true\n---\n' : ''}${parts.join('\n\n')}\n`;
}

/** bookmarklet is a bookmark that opens the form for the page one reads, with what is selected there, as much of it as an address has room for. */
export function bookmarklet(origin: string): string {
  return `javascript:(()=>{let t=String(getSelection());while(encodeURIComponent(t).length>9e3)t=t.slice(0,t.length*.9).replace(/[\\ud800-\\udbff]$/,'');open(${JSON.stringify(origin)}+'/share?'+new URLSearchParams({title:document.title.slice(0,200),url:location.href.slice(0,2e3),text:t}))})()`;
}
