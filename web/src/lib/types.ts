// Short names for what the interface answers.
import type * as api from '../api.gen';

export type { Answer, Approval, Pending, Problem, Result, Rules, Status, ToolTypes, Verified, View } from '../api.gen';
export type Tool = api.Tool;
/** Whether the notes of the vault are where they were. */
export type VaultState = NonNullable<api.Status['state']>;
export type Item = NonNullable<api.View['items']>[number];
export type FileChange = NonNullable<api.Approval['changes']>[number];

/** One call as the activity tells of it. */
export type Called = api.ToolTypes['get_activity']['out']['activity'] extends infer L ? (L extends (infer C)[] | null ? C : never) : never;
/** One change with its files. */
export type Operation = api.ToolTypes['get_operation']['out'];

/** waits tells a call that waits for a person from an answer. */
export function waits(r: api.Result | api.Pending): r is api.Pending {
  return 'pending_operation_id' in r;
}
