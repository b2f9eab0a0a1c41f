// A custom pixel, which tells Waylink of sales: in Shopify's admin, Settings > Customer events > Add custom pixel, with the
// permission "Analytics". Replace the address of the service and the web key.
const SERVICE = 'https://links.example.com';
const API_KEY = 'c_web_…';

analytics.subscribe('checkout_completed', async (event) => {
  // The theme's snippet sets the cookie, once the visitor has agreed.
  const device = await browser.cookie.get('cl_device_id');
  if (!device) return;
  const { checkout } = event.data;
  const { origin, pathname } = event.context.document.location;
  const sale = {
    kind: 'conversion',
    call_id: crypto.randomUUID(),
    occurred_at: event.timestamp,
    page: origin + pathname,
    revenue: checkout.totalPrice.amount,
    currency: checkout.totalPrice.currencyCode,
    transaction_id: checkout.order?.id ?? checkout.token,
  };
  const batch = { api_key: API_KEY, device_id: device, sdk: 'shopify/1', sent_at: new Date().toISOString(), calls: [sale] };
  // The service takes calls from allowed origins only, and a pixel's own requests have none. This goes out from the page around it.
  browser.sendBeacon(`${SERVICE}/serviceCore/sdk/v1/batch`, JSON.stringify(batch));
});
