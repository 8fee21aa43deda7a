import { expect, test } from 'vitest';
import { rowsOf } from './families';
import type { Chat } from './talk';

const chat = (id: string, parent?: string): Chat => ({ id, title: id, ...(parent ? { parent } : {}) }) as Chat;
const told = (chats: Chat[], current = '', open: string[] = []): string => rowsOf(chats, current, new Set(open)).map((r) => r.chat.id + (r.others ? `+${r.others}` : '')).join(' ');

test('one row stands for all versions', () => {
  const chats = [chat('c', 'b'), chat('x'), chat('b', 'a'), chat('a'), chat('y', 'gone')];
  expect(told(chats)).toBe('c+2 x y');
  expect(told(chats, 'a')).toBe('a+2 x y');
  expect(told(chats, 'a', ['a'])).toBe('a+2 c b x y');
  expect(told(chats, 'y')).toBe('c+2 x y');
});

test('chats that are their own ancestors are listed all the same', () => {
  expect(told([chat('a', 'b'), chat('b', 'a'), chat('c', 'c')]).split(' ').length).toBe(3);
});
