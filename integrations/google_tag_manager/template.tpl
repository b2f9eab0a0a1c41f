___TERMS_OF_SERVICE___

By creating or modifying this file you agree to Google Tag Manager's Community
Template Gallery Developer Terms of Service available at
https://developers.google.com/tag-manager/gallery-tos (or such other URL as
Google may provide), as modified from time to time.


___INFO___

{
  "type": "TAG",
  "id": "cvt_temp_public_id",
  "version": 1,
  "securityGroups": [],
  "displayName": "Waylink",
  "categories": ["ATTRIBUTION", "ANALYTICS", "CONVERSIONS"],
  "brand": { "id": "brand_waylink", "displayName": "Waylink" },
  "description": "Tells Waylink which link or ad a visitor came by, and what they buy, with consent mode's consent.",
  "containerContexts": ["WEB"]
}


___TEMPLATE_PARAMETERS___

[
  {
    "type": "SELECT",
    "name": "action",
    "displayName": "What to do",
    "selectItems": [
      { "value": "start", "displayValue": "Start (on all pages, as early as possible)" },
      { "value": "trackConversion", "displayValue": "Tell of a sale" },
      { "value": "trackLead", "displayValue": "Tell of a lead" },
      { "value": "trackEvent", "displayValue": "Tell of an event" }
    ],
    "simpleValueType": true,
    "defaultValue": "start"
  },
  {
    "type": "TEXT",
    "name": "script",
    "displayName": "Address of the script",
    "help": "https://links.example.com/waylink.js, or the name that it has on your own site",
    "simpleValueType": true,
    "valueValidators": [{ "type": "REGEX", "args": ["https://.+\\.js"] }]
  },
  {
    "type": "TEXT",
    "name": "apiKey",
    "displayName": "Web key",
    "help": "c_web_…",
    "simpleValueType": true,
    "valueValidators": [{ "type": "NON_EMPTY" }],
    "enablingConditions": [{ "paramName": "action", "paramValue": "start", "type": "EQUALS" }]
  },
  {
    "type": "SELECT",
    "name": "consentType",
    "displayName": "Consent",
    "selectItems": [
      { "value": "analytics_storage", "displayValue": "analytics_storage" },
      { "value": "ad_storage", "displayValue": "ad_storage" },
      { "value": "none", "displayValue": "Not required" }
    ],
    "simpleValueType": true,
    "defaultValue": "analytics_storage",
    "enablingConditions": [{ "paramName": "action", "paramValue": "start", "type": "EQUALS" }]
  },
  {
    "type": "TEXT",
    "name": "revenue",
    "displayName": "Revenue",
    "help": "In major units: 19.99, not 1999",
    "simpleValueType": true,
    "enablingConditions": [{ "paramName": "action", "paramValue": "trackConversion", "type": "EQUALS" }]
  },
  {
    "type": "TEXT",
    "name": "currency",
    "displayName": "Currency",
    "help": "ISO 4217, such as EUR",
    "simpleValueType": true,
    "enablingConditions": [{ "paramName": "action", "paramValue": "trackConversion", "type": "EQUALS" }]
  },
  {
    "type": "TEXT",
    "name": "transactionId",
    "displayName": "Order number",
    "help": "Two sales with one number count once",
    "simpleValueType": true,
    "enablingConditions": [{ "paramName": "action", "paramValue": "trackConversion", "type": "EQUALS" }]
  },
  {
    "type": "TEXT",
    "name": "eventId",
    "displayName": "Id of the lead",
    "help": "Two leads with one id count once",
    "simpleValueType": true,
    "enablingConditions": [{ "paramName": "action", "paramValue": "trackLead", "type": "EQUALS" }]
  },
  {
    "type": "TEXT",
    "name": "eventName",
    "displayName": "Name of the event",
    "simpleValueType": true,
    "enablingConditions": [{ "paramName": "action", "paramValue": "trackEvent", "type": "EQUALS" }]
  }
]


___SANDBOXED_JS_FOR_WEB_TEMPLATE___

const addConsentListener = require('addConsentListener');
const callInWindow = require('callInWindow');
const injectScript = require('injectScript');
const isConsentGranted = require('isConsentGranted');
const makeNumber = require('makeNumber');

const tellConsent = (type, granted) => callInWindow(granted ? 'Waylink.grantConsent' : 'Waylink.denyConsent');

const actions = {
  start: () => {
    const asks = data.consentType !== 'none';
    callInWindow('Waylink.init', {
      apiKey: data.apiKey,
      baseUrl: data.script,
      consentMode: asks ? 'required' : 'not_required'
    });
    if (asks) {
      addConsentListener(data.consentType, tellConsent);
      if (isConsentGranted(data.consentType)) tellConsent(data.consentType, true);
    }
  },
  trackConversion: () => callInWindow('Waylink.trackConversion', {
    revenue: makeNumber(data.revenue),
    currency: data.currency,
    transaction_id: data.transactionId
  }),
  trackLead: () => callInWindow('Waylink.trackLead', { event_id: data.eventId }),
  trackEvent: () => callInWindow('Waylink.trackEvent', data.eventName)
};

// All tags wait for the same script. Calls before the start wait in it.
injectScript(data.script, () => {
  actions[data.action]();
  data.gtmOnSuccess();
}, data.gtmOnFailure, data.script);


___WEB_PERMISSIONS___

[
  {
    "instance": {
      "key": { "publicId": "access_globals", "versionId": "1" },
      "param": [
        {
          "key": "keys",
          "value": {
            "type": 2,
            "listItem": [
              {"type": 3, "mapKey": [{"type": 1, "string": "key"}, {"type": 1, "string": "read"}, {"type": 1, "string": "write"}, {"type": 1, "string": "execute"}], "mapValue": [{"type": 1, "string": "Waylink.init"}, {"type": 8, "boolean": false}, {"type": 8, "boolean": false}, {"type": 8, "boolean": true}]},
              {"type": 3, "mapKey": [{"type": 1, "string": "key"}, {"type": 1, "string": "read"}, {"type": 1, "string": "write"}, {"type": 1, "string": "execute"}], "mapValue": [{"type": 1, "string": "Waylink.grantConsent"}, {"type": 8, "boolean": false}, {"type": 8, "boolean": false}, {"type": 8, "boolean": true}]},
              {"type": 3, "mapKey": [{"type": 1, "string": "key"}, {"type": 1, "string": "read"}, {"type": 1, "string": "write"}, {"type": 1, "string": "execute"}], "mapValue": [{"type": 1, "string": "Waylink.denyConsent"}, {"type": 8, "boolean": false}, {"type": 8, "boolean": false}, {"type": 8, "boolean": true}]},
              {"type": 3, "mapKey": [{"type": 1, "string": "key"}, {"type": 1, "string": "read"}, {"type": 1, "string": "write"}, {"type": 1, "string": "execute"}], "mapValue": [{"type": 1, "string": "Waylink.trackConversion"}, {"type": 8, "boolean": false}, {"type": 8, "boolean": false}, {"type": 8, "boolean": true}]},
              {"type": 3, "mapKey": [{"type": 1, "string": "key"}, {"type": 1, "string": "read"}, {"type": 1, "string": "write"}, {"type": 1, "string": "execute"}], "mapValue": [{"type": 1, "string": "Waylink.trackLead"}, {"type": 8, "boolean": false}, {"type": 8, "boolean": false}, {"type": 8, "boolean": true}]},
              {"type": 3, "mapKey": [{"type": 1, "string": "key"}, {"type": 1, "string": "read"}, {"type": 1, "string": "write"}, {"type": 1, "string": "execute"}], "mapValue": [{"type": 1, "string": "Waylink.trackEvent"}, {"type": 8, "boolean": false}, {"type": 8, "boolean": false}, {"type": 8, "boolean": true}]}
            ]
          }
        }
      ]
    },
    "clientAnnotations": { "isEditedByUser": true },
    "isRequired": true
  },
  {
    "instance": {
      "key": { "publicId": "inject_script", "versionId": "1" },
      "param": [{ "key": "urls", "value": { "type": 2, "listItem": [{ "type": 1, "string": "https://*/*" }] } }]
    },
    "clientAnnotations": { "isEditedByUser": true },
    "isRequired": true
  },
  {
    "instance": {
      "key": { "publicId": "access_consent", "versionId": "1" },
      "param": [
        {
          "key": "consentTypes",
          "value": {
            "type": 2,
            "listItem": [
              {"type": 3, "mapKey": [{"type": 1, "string": "consentType"}, {"type": 1, "string": "read"}, {"type": 1, "string": "write"}], "mapValue": [{"type": 1, "string": "analytics_storage"}, {"type": 8, "boolean": true}, {"type": 8, "boolean": false}]},
              {"type": 3, "mapKey": [{"type": 1, "string": "consentType"}, {"type": 1, "string": "read"}, {"type": 1, "string": "write"}], "mapValue": [{"type": 1, "string": "ad_storage"}, {"type": 8, "boolean": true}, {"type": 8, "boolean": false}]}
            ]
          }
        }
      ]
    },
    "clientAnnotations": { "isEditedByUser": true },
    "isRequired": true
  }
]


___TESTS___

scenarios: []


___NOTES___

Part of Waylink; docs/integrations.md tells how to use it.
