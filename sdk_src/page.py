"""The page's document, whatever the page's elements are called, and the script's tag in it."""

__pragma__('skip')
from browser import __pragma__, Document, Reflect, document, typeof

__pragma__('noskip')

IS_BROWSER = typeof(document) == 'object'


def of_document(property, new_value):
    """What the document has under this name; with a new value, that is set.

    An element of the page with this name hides the document's own property, but not the one that documents inherit. A
    property that another script has put in the browser's place, such as one that holds cookies back, is used as it is.
    What the browser refuses, such as the cookies of a sandboxed frame, is undefined.
    """
    try:
        return Reflect['set' if new_value else 'get'](
            Document.prototype if typeof(document[property]) == 'object' else document,
            property,
            new_value or document,
            document,
        )
    except:
        pass


# The script tag that runs this file, while it runs; a module has none.
script_tag = IS_BROWSER and of_document('currentScript')
