/** Which layers of a layout are drawn, and where in its tree. Pure. */

import type {Layout} from './scene';
import type {Layer} from './layer';

export interface Drawn {
  readonly layer: Layer;
  /** Id of the layer that it is drawn in; null for the root. */
  readonly parent: string | null;
  /** Place among its siblings, the highest on top. */
  readonly order: number;
  /** Itself, or a layer that it is in. */
  readonly hidden: boolean;
}

/**
 * Layers that hang on the root, by id, parents first. What is attached nowhere is not drawn. A layer that is named twice is
 * drawn where it is met first, so cycles end.
 */
export function drawnOf(layout: Layout): Map<string, Drawn> {
  const drawn = new Map<string, Drawn>();
  const root = rootOf(layout);
  if (!root) return drawn;
  drawn.set(root.id, {layer: root, parent: null, order: 0, hidden: root.hidden});
  for (const each of drawn.values()) {
    each.layer.children.forEach((id, order) => {
      const layer = layout.layers.get(id);
      if (!layer || drawn.has(id)) return;
      drawn.set(id, {layer, parent: each.layer.id, order, hidden: each.hidden || layer.hidden});
    });
  }
  return drawn;
}

/** The layer of type root, of several one that no other layer names. */
function rootOf(layout: Layout): Layer | null {
  const roots = [...layout.layers.values()].filter(layer => layer.type === 'root');
  if (roots.length < 2) return roots[0] ?? null;
  const named = new Set([...layout.layers.values()].flatMap(layer => layer.children));
  return roots.find(root => !named.has(root.id)) ?? roots[0] ?? null;
}

export interface Difference {
  /** Ids of layers that are no longer drawn. */
  readonly gone: readonly string[];
  /** Layers that are new, parents first. */
  readonly added: readonly Drawn[];
  /** Layers that look different, or are elsewhere, with how they were. */
  readonly changed: readonly {readonly before: Drawn; readonly after: Drawn}[];
}

/** What takes one drawing to another. A layer that has become another type is a new one. */
export function difference(before: ReadonlyMap<string, Drawn>, after: ReadonlyMap<string, Drawn>): Difference {
  const gone: string[] = [], added: Drawn[] = [], changed: {before: Drawn; after: Drawn}[] = [];
  for (const [id, {layer}] of before) if (after.get(id)?.layer.type !== layer.type) gone.push(id);
  for (const [id, is] of after) {
    const was = before.get(id);
    if (!was || was.layer.type !== is.layer.type) added.push(is);
    else if (was.layer !== is.layer || was.parent !== is.parent || was.order !== is.order || was.hidden !== is.hidden) {
      changed.push({before: was, after: is});
    }
  }
  return {gone, added, changed};
}
