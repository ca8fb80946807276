// Table files: CSV, TSV and JSON lines as records, read in the browser.

const DELIMITERS = [",", ";", "\t"];

// Rows of cells; a cell in quotes may hold delimiters, line ends and doubled quotes.
export function cellsOf(words, delimiter) {
  const rows = [[]];
  const pattern = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${delimiter}\\r\\n][^${delimiter}\\r\\n]*|))(${delimiter}|\\r?\\n|\\r|$)`, "gy");
  while (pattern.lastIndex < words.length) {
    const found = pattern.exec(words);
    if (!found) throw new Error(`Row ${rows.length}: a quotation mark is not closed, or not at the end of its cell.`);
    const [, quoted, plain, end] = found;
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== delimiter && end !== "") rows.push([]);
  }
  return rows.filter((row) => row.some((cell) => cell.trim()));
}

export function tableRecords(words) {
  const [first] = words.split(/\r?\n|\r/, 1);
  const delimiter = DELIMITERS.toSorted((a, b) => first.split(b).length - first.split(a).length)[0];
  const [header = [], ...rows] = cellsOf(words, delimiter);
  const names = header.map((name) => name.trim().toLowerCase());
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? ""])));
}

export function lineRecords(words) {
  return words.split("\n").map((line) => line.trim()).flatMap((line, i) => {
    if (!line) return [];
    try {
      return [JSON.parse(line)];
    } catch {
      throw new Error(`Line ${i + 1} is not valid JSON.`);
    }
  });
}
