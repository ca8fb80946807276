// Drop: files and folders that are dragged onto a part of the page; most parts take the first file.

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
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (entries.some((entry) => entry.isDirectory)) Promise.all(entries.map(filesIn)).then((found) => take(...found.flat()), () => {});
    else take(...files);
  });
}

const called = (object, method) => new Promise((done, failed) => { object[method](done, failed); });

// All files of an entry, which may be a folder; a reader gives a hundred at a time.
async function filesIn(entry) {
  if (entry.isFile) return [await called(entry, "file")];
  const reader = entry.createReader();
  const found = [];
  for (let some = await called(reader, "readEntries"); some.length; some = await called(reader, "readEntries")) {
    for (const each of some) if (!each.name.startsWith(".")) found.push(...await filesIn(each));
  }
  return found;
}
