// Drop: files that are dragged onto a part of the page; most parts take the first.

export function onDrop(zone, take) {
  const over = (yes) => zone.classList.toggle("over", yes);
  zone.addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  zone.addEventListener("dragleave", () => over(false));
  zone.addEventListener("drop", (event) => {
    over(false);
    const files = [...event.dataTransfer.files];
    if (!files.length) return;
    event.preventDefault();
    take(...files);
  });
}
