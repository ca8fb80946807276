// Menus: details that close when something else is done.

export function wireMenus() {
  const menus = [...document.querySelectorAll("details.menu")];
  document.addEventListener("pointerdown", ({ target }) => { for (const menu of menus) if (!menu.contains(target)) menu.open = false; });
  document.addEventListener("keydown", ({ key }) => {
    const open = menus.find((menu) => menu.open);
    if (key !== "Escape" || !open) return;
    open.open = false;
    open.querySelector("summary").focus();
  });
}
