"""What `init` or a call is given: known names and right values are taken, and the first wrong one is named."""

from debug import say

__pragma__('skip')
from browser import __pragma__, Date, JSON, Object, RegExp, URL, __new__, js_TypeError, location

__pragma__('noskip')

# The order of names in this file is the one that compresses best.
OPTIONS = 'autoPageTracking debug consentMode cookieDomain baseUrl allowIframe eraseOnWithdrawal apiKey'.js_split(' ')
FIELDS = (
    'revenue currency customer_id email product_id event_id phone name transaction_id email_sha256 phone_sha256 '
    'client_timestamp metadata'
).js_split(' ')
# What the JSON of a value looks like; any other field is a text that is no longer than the service takes.
FORMS = {
    'revenue': RegExp('^\\d'),
    'metadata': RegExp('^{[^]{0,4095}$'),
    'consentMode': RegExp('^"(not_)?required"$'),
    'currency': RegExp('^"[A-Za-z]{3}"$'),
    'apiKey': RegExp('^"..'),
    'client_timestamp': RegExp('^"\\d{4}-'),
}
TEXT = RegExp('^"[^]{2,257}$')


def take(given, names, required, form):
    """What `given` has of these names, its own and inherited, as a plain copy; null and '' count as not given.

    The JSON of values without a form of their own has `form`. Raises a TypeError that names the first that is not
    right, or that is `required` and missing; 'fields' where `given` is no plain object. Other names are left out, with
    a warning.
    """
    given = {} if given == None else given
    wrong = {}.toString.call(given) != '[object Object]' and 'fields'
    taken = {}
    for name in names.concat(Object.js_keys(given)):
        try:
            value = given[name]
            text = JSON.stringify(value)
            if not names.includes(name):
                say('unknown', name, True)
            elif (value != None and text != '""') or required.includes(name):
                if name == 'baseUrl':
                    text = JSON.stringify(__new__(URL(value, location.href)))
                if name == 'client_timestamp':
                    text = Date.parse(value) and text  # a number where it is none
                text.match(FORMS[name] or form)[0]  # throws where there is no match
                taken[name] = JSON.parse(text)
        except:
            wrong = wrong or name
    if wrong:
        raise __new__(js_TypeError('Waylink: ' + wrong))
    return taken
