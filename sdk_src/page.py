"""The page's document, whatever the page's elements are called, and the script's tag in it."""

__pragma__('skip')
from browser import __pragma__, Document, Reflect, document, typeof

__pragma__('noskip')

IS_BROWSER = typeof(document) == 'object'


def of_document(property, new_value):
    """What the document has under this name; with a new value, that is set.

    An element of the page with this name hides the document's own property, but not the one that documents inherit. A
    property that another script has put in the browser's place, such as one that holds cookies back, is used as it is.
    """
    is_hidden = typeof(document[property]) == 'object'
    return Reflect['set' if new_value else 'get'](
        Document.prototype if is_hidden else document, property, new_value or document, document
    )


# The script tag that runs this file, while it runs; a module has none.
script_tag = IS_BROWSER and of_document('currentScript')
