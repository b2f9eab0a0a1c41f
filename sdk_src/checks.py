"""What `init` or a call is given: known names and right values are taken, and the first wrong one is named."""

from call_rules import MOST_BYTES, TEXT
from debug import say

__pragma__('skip')
from browser import __pragma__, JSON, Object, RegExp, TextEncoder, URL, __new__, js_TypeError, location, typeof

__pragma__('noskip')

# The order of names in this file is the one that compresses best; `!` follows what has to be given.
OPTIONS = 'cookieDomain autoPageTracking apiKey! consentMode debug eraseOnWithdrawal allowIframe baseUrl'
# What the JSON of a value looks like; any other may be anything.
OPTION_FORMS = {'consentMode': RegExp('^"(not_)?required"$'), 'cookieDomain': RegExp('^"'), 'apiKey': RegExp('^"')}


def take(given, fields, forms, name):
    """What `given` has of these fields, its own and inherited, as a plain copy; blank texts and null are not given.

    `name`, if there is one, takes the place of the name in `given`. Texts are trimmed. The JSON of each value, indented
    by a space a level, has its form. Raises a TypeError that names the first that is not right, or that has to be given
    and is not; 'fields' where `given` is no plain object. Other names are left out, with a warning.
    """
    given = {} if given == None else given
    wrong = {}.toString.call(given) != '[object Object]' and 'fields'
    taken = {}
    names = fields.match(RegExp('\\w+', 'g'))
    for each in names.concat(Object.js_keys(given)):
        try:
            if names.includes(each):
                text = JSON.stringify({'name': name}[each] or given[each])
                value = text and JSON.parse(text)
                if typeof(value) == 'string':
                    value = value.match(TEXT)[1]  # throws for one that is too long
                if value != None or fields.includes(each + '!'):
                    if each == 'baseUrl':
                        value = __new__(URL(value.trim(), location.href)).href
                    # Of what is too long the byte after the last, which is not its form; throws without a match.
                    value_or_byte = __new__(TextEncoder()).encode(JSON.stringify(value))[MOST_BYTES] or value
                    JSON.stringify(value_or_byte, None, 1).match(forms[each] or forms.text)[0]
                    taken[each] = value
            else:
                say('unknown', each, True)
        except:
            wrong = wrong or each
    if wrong:
        raise __new__(js_TypeError('Waylink: ' + wrong))
    return taken
