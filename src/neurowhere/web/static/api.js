// The API: queries in the body of a POST, so that no text is ever in an address.

class Refused extends Error {
  constructor(message, hint, code) {
    super(message);
    this.hint = hint;
    this.code = code;
  }
}

async function fetched(path, options) {
  let response;
  try {
    response = await fetch(`api/v1/${path}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server does not answer.", "Check that neurowhere serve is still running.");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({ detail: response.statusText, hint: "" }));
  const retry = response.headers.get("Retry-After");
  throw new Refused(problem.detail, retry ? `Try again in ${retry} s.` : problem.hint, problem.code);
}

export function post(path, query, signal) {
  return fetched(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(query),
    signal,
  });
}

export const ask = async (path, query, signal) => (await post(path, query, signal)).json();
export const get = async (path, signal) => (await fetched(path, { signal })).json();
export const getBlob = async (path, signal) => (await fetched(path, { signal })).blob();

// Long work, as a job: started, and forgotten with all that it holds.
export const startJob = (kind, query, signal) => ask(`jobs/${kind}`, query, signal);
export const forgetJob = (id) => fetched(`jobs/${id}`, { method: "DELETE" });

// Read the text of a document; its name stays here.
export async function readDocument(file, kind) {
  const headers = { "Content-Type": "application/octet-stream" };
  return (await fetched(`text?kind=${kind}`, { method: "POST", headers, body: file })).json();
}

// Send an image as it is, as the body of the request.
export async function decodeMap(file, { threshold, negative, n, atlas }, signal) {
  const options = new URLSearchParams({ n, atlas, ...(negative ? { negative } : {}), ...(threshold === null ? {} : { threshold }) });
  const headers = { "Content-Type": "application/octet-stream" };
  return (await fetched(`decode/map?${options}`, { method: "POST", headers, body: file, signal })).json();
}
