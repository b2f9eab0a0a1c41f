import { init } from '@plausible-analytics/tracker';

init({
  domain: 'shop.example',
  endpoint: 'https://service.example/plausible',
  outboundLinks: true,
  fileDownloads: true,
  formSubmissions: true,
});
