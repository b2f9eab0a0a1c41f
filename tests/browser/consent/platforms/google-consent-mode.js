// What a platform does that speaks Google Consent Mode: `gtag`, as Google documents it.
window.dataLayer = window.dataLayer || [];
function gtag() {
  dataLayer.push(arguments);
}

const state = (given) => ({
  ad_storage: given === 'agreed' ? 'granted' : 'denied',
  analytics_storage: given === 'agreed' ? 'granted' : 'denied',
});

window.platform = {
  load(former) {
    gtag('consent', 'default', { ...state(), wait_for_update: 500 });
    gtag('js', new Date());
    dataLayer.push({ event: 'page' });
    if (former) gtag('consent', 'update', state(former));
    // Google's script puts a function of its own in the place of `push`.
    const { push } = dataLayer;
    dataLayer.push = (...entries) => push.apply(dataLayer, entries);
  },
  answer(given) {
    gtag('consent', 'update', { ad_user_data: 'denied' });
    gtag('consent', 'update', state(given));
  },
};
