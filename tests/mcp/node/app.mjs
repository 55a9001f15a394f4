// An in-memory OAuth client provider with the interface that both published clients require.
import { authorize } from "./person.mjs";

export class App {
  redirectUrl = "http://127.0.0.1:33418/callback";
  #client;
  #tokens;
  #verifier;
  #discovery;

  constructor(person) {
    this.person = person;
  }
  get clientMetadata() {
    return {
      client_name: "A published client",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }
  state() {
    return "a-state-of-its-own";
  }
  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client) {
    this.#client = client;
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens) {
    this.#tokens = tokens;
  }
  codeVerifier() {
    return this.#verifier;
  }
  saveCodeVerifier(verifier) {
    this.#verifier = verifier;
  }
  saveDiscoveryState(state) {
    this.#discovery = state;
  }
  discoveryState() {
    return this.#discovery;
  }
  async redirectToAuthorization(url) {
    this.authorizationUrl = url;
    this.redirect = await authorize(url.href, this.person);
  }
}
