// What Didomi documents: developers.didomi.io, "Events" and "API" of the web SDK.
let status;

window.platform = {
  load(former) {
    status = former;
    window.Didomi = {
      getCurrentUserStatus: () => ({
        vendors: { 'c:waylink': { id: 'c:waylink', enabled: status === 'agreed' }, 'c:chat': { id: 'c:chat', enabled: status === 'in_part' } },
      }),
      shouldUserStatusBeCollected: () => !status,
    };
    const listeners = (window.didomiEventListeners ||= []);
    window.didomiOnReady = [...(window.didomiOnReady || [])];
    window.didomiOnReady.splice(0).forEach((callback) => callback(Didomi));
    window.didomiOnReady.push = (callback) => callback(Didomi);
    this.fire = () => listeners.forEach(({ event, listener }) => event === 'consent.changed' && listener({}));
  },
  answer(given) {
    status = given;
    this.fire();
  },
};
