/** Dark or light: the system's setting, until the user chooses. */

const DARK = "(prefers-color-scheme: dark)";

export function isDark(): boolean {
  const forced = document.documentElement.style.colorScheme;
  return forced ? forced === "dark" : matchMedia(DARK).matches;
}

export function toggleTheme(): void {
  document.documentElement.style.colorScheme = isDark() ? "light" : "dark";
}

export function onSystemTheme(action: () => void): void {
  matchMedia(DARK).addEventListener("change", action);
}
