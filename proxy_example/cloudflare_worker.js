// A Cloudflare Worker on the route shop.example/waylink/*, with your service for links.example.
// The SDK is then initialised with baseUrl: 'https://shop.example/waylink'.
const SERVICE = 'https://links.example';
const PREFIX = '/waylink';
const SDK_API = '/serviceCore/sdk/v1/';

export default {
  async fetch(request) {
    const url = new URL(request.url);
    const path = url.pathname.slice(PREFIX.length);
    if (request.method !== 'POST' || !path.startsWith(SDK_API)) {
      return new Response('Not found', { status: 404 });
    }
    // fetch writes Host anew from the address; every other header is passed on.
    return fetch(new Request(SERVICE + path + url.search, request));
  },
};
