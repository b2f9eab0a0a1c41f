// Two certified OpenID providers (npm's oidc-provider) in one process, each at a port of its own. The ID tokens of
// the second one have no claims but the person's id. A test registers clients there by dynamic registration. Beside
// a provider's own addresses each server has two for tests: POST /test/people sets the claims of people by their
// login, POST /test/keys gives the provider new keys.
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const HOST = "127.0.0.1";
const PROVIDERS = 2;

function newKey() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig" };
}

function findAccount(people) {
  return (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) });
}

// Nobody is asked whether the client may know what it asks for: it is the organization's own.
async function loadExistingGrant(context) {
  const { client, provider, session, params } = context.oidc;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(params.scope);
  await grant.save();
  return grant;
}

// What a provider stores. It outlives a change of keys, which takes a new Provider.
function adapterOf(store) {
  return (model) => ({
    upsert: async (id, payload) => void store.set(`${model}:${id}`, payload),
    find: async (id) => store.get(`${model}:${id}`),
    findByUid: async (uid) => [...store.values()].find((payload) => payload.kind === model && payload.uid === uid),
    consume: async (id) => void (store.get(`${model}:${id}`).consumed = Math.floor(Date.now() / 1000)),
    destroy: async (id) => void store.delete(`${model}:${id}`),
    revokeByGrantId: async (grantId) => {
      for (const [id, payload] of store) if (payload.grantId === grantId) store.delete(id);
    },
  });
}

function newProvider({ issuer, people, store, hasThinTokens }) {
  const provider = new Provider(issuer, {
    adapter: adapterOf(store),
    claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"], profile: ["name"] },
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    // Then address and groups are told at the userinfo endpoint only.
    conformIdTokenClaims: hasThinTokens,
    cookies: { keys: ["of tests"] },
    enabledJWA: { idTokenSigningAlgValues: ["ES256"] },
    features: { registration: { enabled: true }, rpInitiatedLogout: { enabled: true } },
    findAccount: findAccount(people),
    jwks: { keys: [newKey()] },
    loadExistingGrant,
    scopes: ["openid", "email", "profile", "groups"],
  });
  return provider.callback();
}

async function jsonOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString() || "null");
}

async function start(hasThinTokens) {
  const people = new Map();
  const store = new Map();
  let issuer;
  let answer;
  const server = createServer(async (request, response) => {
    if (request.url === "/test/people") {
      for (const [login, claims] of Object.entries(await jsonOf(request))) people.set(login, claims);
      response.end();
    } else if (request.url === "/test/keys") {
      answer = newProvider({ issuer, people, store, hasThinTokens });
      response.end();
    } else {
      answer(request, response);
    }
  });
  await new Promise((resolve) => server.listen(0, HOST, resolve));
  issuer = `http://${HOST}:${server.address().port}`;
  answer = newProvider({ issuer, people, store, hasThinTokens });
  return issuer;
}

const issuers = [];
for (let number = 0; number < PROVIDERS; number += 1) issuers.push(await start(number > 0));
process.stdout.write(`${JSON.stringify(issuers)}\n`);
