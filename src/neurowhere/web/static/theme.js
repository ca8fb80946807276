// Light or dark, before the page is drawn: what was chosen here, or else what the system says.
{
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* storage is off */ }
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
