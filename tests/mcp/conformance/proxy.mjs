// Forwards requests with an API key, because the conformance suite sends none when it tests a server. Changes nothing else; the
// Host header stays the same. Prints its port, and reads one line from its standard input: the target origin and the key.
import http from "node:http";
import readline from "node:readline";

let target, key;
readline.createInterface({ input: process.stdin }).once("line", (line) => {
  [target, key] = line.split(" ");
});
const proxy = http.createServer((request, response) => {
  const { hostname, port } = new URL(target);
  const headers = { ...request.headers };
  headers.authorization ??= `Bearer ${key}`;
  const options = { hostname, port, method: request.method, path: request.url, headers, setHost: false };
  const forwarded = http.request(options, (upstream) => {
    response.writeHead(upstream.statusCode, upstream.rawHeaders);
    upstream.pipe(response);
  });
  forwarded.on("error", () => response.destroy());
  request.pipe(forwarded);
});
proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
