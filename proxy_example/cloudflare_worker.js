// A Cloudflare Worker on the route shop.example/a/hello*, with your service for links.example and a name of your
// own for /a/hello. The page loads /a/hello.js, which sends its calls to /a/hello.
const SERVICE = 'https://links.example';
const NAME = '/a/hello';
const SDK_API = '/serviceCore/sdk/v1/';
const FILES = new Map([
  ['.js', '/waylink.js'],
  ['-links.js', '/waylink-links.js'],
  ['-domains.js', '/waylink-domains.js'],
  ['-privacy.js', '/waylink-privacy.js'],
  ['.json', '/waylink.json'],
  ['/waylink.json', '/waylink.json'], // where the npm package asks
]);

/** The service's path for a request of the SDK; undefined for what is none. */
function pathAtService(method, path) {
  const rest = path.slice(NAME.length);
  if (method === 'POST') {
    return rest === '' ? `${SDK_API}batch` : rest.startsWith(SDK_API) ? rest : undefined;
  }
  return method === 'GET' || method === 'HEAD' ? FILES.get(rest) : undefined;
}

export default {
  async fetch(request) {
    const url = new URL(request.url);
    const path = pathAtService(request.method, url.pathname);
    if (!path) {
      return fetch(request); // another page of the site
    }
    // fetch writes Host anew from the address; every other header is passed on.
    const forwarded = new Request(SERVICE + path + url.search, request);
    forwarded.headers.set('X-Forwarded-For', request.headers.get('CF-Connecting-IP'));
    return fetch(forwarded);
  },
};
