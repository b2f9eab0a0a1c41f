// What Cookiebot documents: cookiebot.com/en/developer. Its tag has this id, so that until it has loaded, the global is the tag.
document.currentScript.id = 'Cookiebot';
const fire = (name) => window.dispatchEvent(new Event(`CookiebotOn${name}`));

function apply(given) {
  const agreed = given !== 'refused';
  Object.assign(Cookiebot, { hasResponse: true, consented: agreed, declined: !agreed });
  Object.assign(Cookiebot.consent, { statistics: given === 'agreed', marketing: agreed });
  fire('ConsentReady');
  fire(agreed ? 'Accept' : 'Decline');
}

window.platform = {
  load(former) {
    const consent = { necessary: true, preferences: false, statistics: false, marketing: false };
    window.Cookiebot = { consent, hasResponse: false, consented: false, declined: false };
    fire('Load');
    if (former) apply(former);
    else fire('DialogDisplay');
  },
  answer: apply,
};
