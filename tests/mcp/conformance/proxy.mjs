// Passes requests on with an API key, because the conformance suite sends none when it tests a server. It changes nothing
// else, the Host header least of all. Prints the port that it listens on, and is told on its standard input, in one line, where
// to pass requests on to, and the key.
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
  const passed = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders);
    answer.pipe(response);
  });
  passed.on("error", () => response.destroy());
  request.pipe(passed);
});
proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
