// What OneTrust documents: developer.onetrust.com, "Web CMP Events Guide" and "OnetrustActiveGroups".
let answered = false;

function apply(given) {
  answered = answered || Boolean(given);
  const groups = given === 'agreed' ? ['C0001', 'C0002', 'C0003'] : given === 'in_part' ? ['C0001', 'C0003'] : ['C0001'];
  window.OnetrustActiveGroups = `,${groups.join(',')},`;
  window.dispatchEvent(new CustomEvent('OneTrustGroupsUpdated', { detail: groups }));
}

window.platform = {
  load(former) {
    // Its first script tells the groups that the cookie has. The functions come with the second.
    window.OneTrust = { geolocationResponse: { countryCode: 'DE' } };
    if (former) apply(former);
    OneTrust.IsAlertBoxClosed = () => answered;
    apply(former);
  },
  answer: apply,
};
