"""Checks of arguments: known names with right values are taken, and an error names the first that is wrong."""

from address import address
from call_rules import MAX_JSON_BYTES, TRIMMED_TEXT
from debug import say

__pragma__('skip')
from browser import __pragma__, JSON, Object, RegExp, TextEncoder, URL, __new__, js_TypeError, typeof

__pragma__('noskip')

# The order of names in this file is the one that compresses best; `!` follows those that have to be given.
OPTIONS = 'cookieDomain autoPageTracking apiKey! consentMode debug eraseOnWithdrawal allowIframe baseUrl'
# What the JSON of a value looks like. Any other option is on or off, or `debug` with its sentences, and no text but
# 'true', which the script's tag may have.
OPTION_PATTERNS = {
    'consentMode': RegExp('^"(not_)?required"$'),
    'cookieDomain': RegExp('^"'),
    'apiKey': RegExp('^"'),
    'baseUrl': RegExp('^"'),
    'id': RegExp('^([^"]|"true")'),
}
WHOLE_MATCH = 0  # in what `match` returns
FIRST_GROUP = 1


def validate(arguments, fields, patterns, preset):
    """A plain copy of what `arguments` has of these fields, its own and inherited.

    What the object `preset` has, if there is one, takes the place of what `arguments` has. Texts are trimmed; a blank
    one counts as not given, and so does null; any other value without JSON is wrong. The JSON of each value, indented
    by a space a level, has to match its pattern. Raises a TypeError that names the first field that does not, or that
    has to be given and is not, with its value; 'fields' where `arguments` is no plain object. Other names are left out,
    with a warning.
    """
    arguments = {} if arguments == None else arguments
    wrong = {}.toString.call(arguments) != '[object Object]' and 'fields'
    valid = {}
    field_names = fields.match(RegExp('\\w+', 'g'))
    for field in field_names.concat(Object.js_keys(arguments)):
        try:
            if field_names.includes(field):
                given = (preset if preset and preset.hasOwnProperty(field) else arguments)[field]
                value = JSON.parse(JSON.stringify(given) or None)
                if value == None and given != None:  # such as a function, or a number that is none
                    raise value
                if typeof(value) == 'string':
                    value = value.match(TRIMMED_TEXT)[FIRST_GROUP]  # raises an exception for one that is too long
                if value != None or fields.includes(field + '!'):
                    if field == 'baseUrl':
                        value = __new__(URL(value.trim(), address.href)).href
                    # Only a value that is too long has this byte. Then it is `true`, which no pattern matches.
                    byte_past_limit = __new__(TextEncoder()).encode(JSON.stringify(value))[MAX_JSON_BYTES]
                    indented = JSON.stringify(byte_past_limit > 0 or value, None, 1)
                    indented.match(patterns[field] or patterns.id)[WHOLE_MATCH]  # raises an exception without a match
                    valid[field] = value
            else:
                say('unknown', field, True)
        except:
            wrong = wrong or field + ' ' + (given and (given.toString and given.toString()))
    if wrong:
        raise __new__(js_TypeError('Waylink: ' + wrong))
    return valid
