// A platform of IAB TCF: the real stub and API. Only the dialog is missing, and what the visitor answered comes from the test.
import { CmpApi } from '@iabtcf/cmpapi';
import stub from '@iabtcf/stub';

// Made with @iabtcf/core: consent to all purposes, to purposes 2 and 7 alone, and to none.
const ALL = 'CQdWToAQdWToAACABAENABEgAP_gAAAAAAAAAAAAAAAA.YAAAAAAAAAAA';
const WITHOUT_STORAGE = 'CQuci4AQuci4AACABAENABEgAEIAAAAAAAAAAAAAAAAA.YAAAAAAAAAAA';
const NONE = 'CQdWToAQdWToAACABAENABEgAAAAAAAAAAAAAAAAAAAA.YAAAAAAAAAAA';
const ANSWERS = { agreed: ALL, in_part: WITHOUT_STORAGE, refused: NONE };

stub();
let api;
window.platform = {
  load(former) {
    api = new CmpApi(2, 1, true);
    if (former === 'failed') api.disable();
    else api.update(former === 'exempt' ? null : former ? ANSWERS[former] : '', !former);
  },
  answer(given) {
    api.update(ALL, true); // the dialog is opened: what held still holds
    api.update(ANSWERS[given], false);
  },
};
