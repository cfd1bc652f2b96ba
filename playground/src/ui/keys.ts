/** The keys of the page, and when they belong to something else. */

/** Call the action of a key, unless a dialog is open or the key belongs to the field that has the focus. */
export function listenToKeys(actions: Readonly<Record<string, () => void>>, isBlocked: () => boolean): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isBlocked()) return;
    const target = event.target as HTMLElement;
    if (target.closest("input:not([type=range]):not([type=checkbox]), select, textarea")) return;
    if (event.key === " " && target.closest("button, summary, input:not([type=range]), a")) return;
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
