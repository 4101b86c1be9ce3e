// Talking to the server. All addresses are relative to that of the page, which holds the token.

/** Ask, and get plain values; an error has the server's sentence. */
export async function ask(path, { method = "GET", message, signal } = {}) {
  const options = { method, signal };
  if (message !== undefined) options.body = JSON.stringify(message);
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({ error: `The server answered ${response.status}.` }));
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/** Send a file as it is; `listen` hears which share of it has gone. */
export function send(path, file, listen) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", path);
    request.upload.addEventListener("progress", (event) => event.lengthComputable && listen(event.loaded / event.total));
    request.addEventListener("load", () => {
      let answer = {};
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        answer = { error: `The server answered ${request.status}.` };
      }
      if (request.status < 300) resolve(answer);
      else reject(new Error(answer.error));
    });
    request.addEventListener("error", () => reject(new Error("The file did not arrive. Is the server still running, and the file small enough?")));
    request.send(file);
  });
}

/** Hear of every change. The browser connects again by itself. */
export function listen({ state, progress, lost, found }) {
  const source = new EventSource("api/events");
  source.addEventListener("state", (event) => state(JSON.parse(event.data)));
  source.addEventListener("progress", (event) => progress(JSON.parse(event.data)));
  source.addEventListener("error", lost);
  source.addEventListener("open", found);
}
