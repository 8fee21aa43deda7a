import { expect, test } from 'vitest';
import { placeOf, readable } from './results';

test('a passage is where its note lies, and under which headings', () => {
  expect(placeOf({ path: 'Nodes/Hypothesis/Cooler.md', title: 'Cooler', heading: 'Cooler > Relations' })).toBe('Nodes/Hypothesis › Relations');
  expect(placeOf({ path: 'Notes/Water.md', title: 'Water', heading: 'Water' })).toBe('Notes');
  expect(placeOf({ path: 'Top.md', title: 'Top' })).toBe('');
});

test('a passage is read without its heading and without the signs of fields', () => {
  const of = (text: string, on = false): { text: string; on: boolean } => ({ text, on });
  expect(readable([of('Water', true), of(' '), of('temperature', true), of(' Heat decides')], ['Water temperature'])).toEqual([of('Heat decides')]);
  expect(readable([of('Relations relates_to:: L-theanine [confidence:: 0.6] part_of:: '), of('Water', true)], ['Relations'])).toEqual([of('relates to: L-theanine (confidence 0.6) part of: '), of('Water', true)]);
  expect(readable([of('Water', true), of(': Heat decides')], ['Water'])).toEqual([of('Heat decides')]);
  expect(readable([of('water', true), of(':: 160 ml')], [''])).toEqual([of('water', true), of(': 160 ml')]);
  expect(readable([of('Relations')], ['Relations'])).toEqual([of('Relations')]);
});
