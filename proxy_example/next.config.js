// Next.js: take `rewrites` into the site's next.config.js, with your service for links.example and a name of your
// own for /a/hello. The page loads /a/hello.js, which sends its calls to /a/hello. Next.js passes X-Forwarded-For on
// as it comes: what stands in front of it (Vercel, nginx ...) writes the visitor's address there.
const SERVICE = 'https://links.example';
const NAME = '/a/hello';
const SDK_API = '/serviceCore/sdk/v1';

module.exports = {
  async rewrites() {
    return [
      { source: `${NAME}.js`, destination: `${SERVICE}/waylink.js` },
      { source: `${NAME}-links.js`, destination: `${SERVICE}/waylink-links.js` },
      { source: `${NAME}-domains.js`, destination: `${SERVICE}/waylink-domains.js` },
      { source: `${NAME}-privacy.js`, destination: `${SERVICE}/waylink-privacy.js` },
      { source: `${NAME}.json`, destination: `${SERVICE}/waylink.json` },
      { source: `${NAME}/waylink.json`, destination: `${SERVICE}/waylink.json` },
      { source: NAME, destination: `${SERVICE}${SDK_API}/batch` },
      { source: `${NAME}${SDK_API}/:path*`, destination: `${SERVICE}${SDK_API}/:path*` },
    ];
  },
};
