import { OpenPanel } from '@openpanel/web';

new OpenPanel({
  apiUrl: 'https://service.example/openpanel',
  clientId: 'client',
  trackScreenViews: true,
  trackOutgoingLinks: true,
  trackAttributes: true,
});
